"""The rows of an edge on their way through this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.tables import Changelog
from tidemark.kernels.columns import FAULT, KIND, PLACE, SEEN

if TYPE_CHECKING:
    import polars as pl

# Frames without columns have no height: rows without any have this one.
ROW: Final = "_tm_row"


@dataclass(frozen=True, slots=True)
class LocalRows:
    """Rows in frames, which are made one by one when they are asked for.

    The frames have the columns of an edge, by position; row kinds if not all rows are inserts; and
    the watermark before each row if they are `stamped`.
    """

    frames: Callable[[], Iterator[pl.DataFrame]]
    columns: tuple[str, ...]
    changelog: Changelog = Changelog.APPEND
    stamped: bool = False
    # Whether rows have the file that they are from.
    placed: bool = False
    # Whether rows have a column with their fault, for which `faults.checked` fails.
    faulty: bool = False

    @property
    def extra(self) -> tuple[str, ...]:
        """The columns besides those of the edge that a node must pass on."""
        kinds = () if self.changelog is Changelog.APPEND else (KIND,)
        stamps = (SEEN,) if self.stamped else ()
        place = (PLACE,) if self.placed else ()
        return (*kinds, *stamps, *place, *((FAULT,) if self.faulty else ()))

    def each(self, change: Callable[[pl.DataFrame], pl.DataFrame], **changes: Any) -> LocalRows:
        """The rows of an edge after a change of each frame."""
        frames = self.frames
        return replace(self, frames=lambda: map(change, frames()), **changes)

    def like(self, names: tuple[str, ...], changelog: Changelog) -> LocalRows:
        """The rows with other column names, and with row kinds if the others have them."""
        had_kinds = self.changelog is not Changelog.APPEND
        has_kinds = changelog is not Changelog.APPEND
        columns, others = self.columns, [*[SEEN] * self.stamped, *[FAULT] * self.faulty]

        def renamed(frame: pl.DataFrame) -> pl.DataFrame:
            import polars as pl

            of_edge = [pl.col(old).alias(new) for old, new in zip(columns, names, strict=True)]
            kinds = [pl.col(KIND) if had_kinds else pl.lit("+I").alias(KIND)] * has_kinds
            return frame.select(*of_edge, *kinds, *others) if names else frame

        return self.each(renamed, columns=names, changelog=changelog, placed=False)
