"""Attempts to match: what the search, the skipping and the values of matches ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemark.kernels.tables import Longs

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Unrolled:
    """Attempts row by row: for each row the place of its attempt, the attempt as it was after that
    row, and whether the pattern excludes the row from the output.
    """

    of: Longs
    running: Attempts
    excluded: Flags


_Some = TypeVar("_Some", bound="Attempts")


class Attempts(ABC):
    """Attempts to match adjacent rows, by the positions of their first rows and the states of the
    automaton after the rows that each has taken. Rows are labeled with variables.
    """

    start: Longs
    state: Longs

    def __len__(self) -> int:
        return self.start.size

    @staticmethod
    def together(several: Sequence[_Some]) -> _Some:
        return several[0].joined(several[1:])

    @abstractmethod
    def __getitem__(self, chosen: Flags | Longs | slice) -> Self: ...

    @abstractmethod
    def joined(self, others: Sequence[Self]) -> Self: ...

    @abstractmethod
    def in_state(self, state: int) -> Self:
        """The same attempts in another state."""

    @property
    @abstractmethod
    def next(self) -> Longs:
        """The position of the row after those that are taken."""

    @abstractmethod
    def taking(self, label: int, state: int) -> Self:
        """The attempts after one more row with a label."""

    # --- which rows are of a variable -----------------------------------------------------------

    @abstractmethod
    def place(self, variable: int, first: bool, offset: int) -> tuple[Longs, Flags]:
        """The position of a variable's row, counted from the first or the last one, where there is
        such a row.
        """

    def nth(self, variable: int, first: bool, offset: int) -> Longs:
        """Which row of its attempt that is, from 1 on; 0 if there is none."""
        place, there = self.place(variable, first, offset)
        return np.where(there, place - self.start + 1, 0)

    @abstractmethod
    def label(self, variable: int, first: bool, offset: int) -> tuple[Longs, Flags]:
        """The variable of that row: a subset has rows of several."""

    @abstractmethod
    def run(self, variable: int) -> tuple[Longs, Longs] | None:
        """The first row of a variable and how many there are, if they are adjacent."""

    @abstractmethod
    def members(self, variable: int) -> tuple[Longs, Longs]:
        """How many rows each attempt has of a variable, and their positions one after the other."""

    @abstractmethod
    def unrolled(self) -> Unrolled: ...

    # --- state ----------------------------------------------------------------------------------

    @abstractmethod
    def kept(self) -> list[pl.Series]:
        """What is kept of the rows of attempts besides their first ones."""


class Noting(Protocol):
    """Makes attempts that note the labels of their rows in one way."""

    @property
    def columns(self) -> Mapping[str, pl.DataType]:
        """The columns of `Attempts.kept`."""

    def beginning(self, start: Longs, state: int) -> Attempts: ...

    def read(self, kept: pl.DataFrame, start: Longs, state: Longs) -> Attempts: ...
