"""Functions that the tests declare with CREATE FUNCTION."""

from tidemark.catalog.user_functions import udf


def twice(text: str) -> str:
    return text + text


def untyped(value):
    return value


@udf(returns="DECIMAL(10, 2)", parameters=["INT", "STRING"])
def typed(number, text):
    return number


NOT_A_FUNCTION = 3
