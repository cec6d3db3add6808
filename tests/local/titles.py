"""A function that plans know by name."""


def title(name: str) -> str:
    return "Ms. " + name
