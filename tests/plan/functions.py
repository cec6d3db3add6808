"""Functions that the tests declare with CREATE FUNCTION."""

import pyarrow.compute as pc

from tidemark.catalog.user_functions import udaf, udf


def twice(text: str) -> str:
    return text + text


def untyped(value):
    return value


@udf(returns="DECIMAL(10, 2)", parameters=["INT", "STRING"])
def typed(number, text):
    return number


NOT_A_FUNCTION = 3


class Spread:
    """The distance of the greatest and the least value."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: int) -> None:
        if value is not None:
            accumulator.append(value)

    def get_value(self, accumulator: list[int]) -> int:
        return max(accumulator) - min(accumulator) if accumulator else None


class Weighted:
    """An average; nothing says what it takes."""

    def create_accumulator(self):
        return [0.0, 0.0]

    def accumulate(self, accumulator, value, weight=1):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def get_value(self, accumulator) -> float:
        return accumulator[0] / accumulator[1]


@udaf(returns="BIGINT")
def total(values):
    return pc.sum(values)


class HalfAnAggregate:
    def accumulate(self, accumulator, value):
        pass
