"""The current rows of a query, maintained as changes arrive."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import Edge
from tidemark.session.arrow import empty
from tidemark.session.changelogs import applied, python_rows
from tidemark.session.changes import ChangeStream
from tidemark.session.live_views import Snapshot
from tidemark.spark.frame import KIND
from tidemark.spark.jobs import Job, State

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

# How many rows are shown to users.
SHOWN = 20
# How soon Ctrl-C interrupts waiting for rows.
_LOOK_EVERY_SECONDS = 0.2


class LiveTable:
    """A live table: rows are added, replaced and removed as the query's results change.

    It follows the query on a thread of its own from the moment it is created. A notebook that
    displays it shows the changes; `show()` does that in a terminal. For an append-only query it
    keeps the newest `keep` rows.
    """

    def __init__(self, edge: Edge, start: Callable[[], ChangeStream], keep: int) -> None:
        self._edge = edge
        self._keep = keep
        self._rows: pa.Table | None = None
        self._changes = 0
        self._ended = False
        self._changed = threading.Condition()
        self._displays: list[Any] = []
        self._failure: BaseException | None = None
        self._stream = start()
        self._thread = threading.Thread(target=self._follow, name="tidemark-live", daemon=True)
        self._thread.start()

    def __enter__(self) -> LiveTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return self.snapshot().text()

    @property
    def job(self) -> Job:
        """The job of the query."""
        return self._stream.job

    @property
    def state(self) -> State:
        """The state of the query: running, finished, failed or stopped."""
        return self.job.state if self._ended else "running"

    # --- rows ------------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """The current rows as an Arrow table."""
        rows = self._rows
        return rows if rows is not None else empty(self._edge).select(self._edge.names)

    def rows(self) -> list[dict[str, Any]]:
        """The current rows as a list of dicts."""
        return python_rows(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """The current rows as a Polars frame."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_pandas(self) -> pd.DataFrame:
        """The current rows as a pandas frame."""
        return self.to_arrow().to_pandas()

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        """All rows after each change, until the query has ended."""
        for _ in self._versions():
            yield self.rows()

    # --- the query -------------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the query has ended; False if `timeout` seconds were not enough. Raises the
        query's error if it failed.
        """
        self._thread.join(timeout)
        if self._failure is not None:
            raise self._failure
        return self._ended

    def stop(self) -> None:
        """Stop the query. The rows stay as they are."""
        self._stream.close()
        self._thread.join()

    def _follow(self) -> None:
        try:
            for batch in self._stream:
                self._take(batch)
        except BaseException as failure:  # a panic in Polars is no Exception
            self._failure = failure
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
            self._draw()

    def _take(self, batch: pa.Table) -> None:
        if not batch.num_rows:
            return
        rows = self._after(batch)
        with self._changed:
            self._rows = rows
            self._changes += batch.num_rows
            self._changed.notify_all()
        self._draw()

    def _after(self, batch: pa.Table) -> pa.Table:
        """The rows after the changes of a batch."""
        import pyarrow as pa

        if self._edge.changelog is Changelog.APPEND:
            rows = batch if self._rows is None else pa.concat_tables([self._rows, batch])
            return rows.slice(max(0, rows.num_rows - self._keep)).combine_chunks()
        if self._rows is None:
            return applied([batch], self._edge)
        kinds = pa.repeat("+I", self._rows.num_rows)
        before = self._rows.append_column(batch.schema.field(KIND), kinds)
        return applied([before.cast(batch.schema), batch], self._edge)

    def _versions(self) -> Iterator[int]:
        """The number of changes so far, whenever there are new ones, and at the end."""
        seen = -1
        while True:
            with self._changed:
                while self._changes == seen and not self._ended:
                    self._changed.wait(_LOOK_EVERY_SECONDS)
                ended, news = self._ended, self._changes != seen
                seen = self._changes
            if news:
                yield seen
            if ended:
                return

    # --- for the eye -----------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The newest rows, for display."""
        rows = self.to_arrow()
        state = "failed" if self._failure is not None else self.state
        newest = rows.slice(max(0, rows.num_rows - SHOWN))
        problem = None if self._failure is None else str(self._failure)
        return Snapshot(self._edge.columns, newest, rows.num_rows, self._changes, state, problem)

    def show(self, seconds: float | None = None) -> None:
        """Redraw the table in the terminal until the query has ended, `seconds` have passed or
        Ctrl-C is pressed; the query keeps running.
        """
        from rich.console import Console
        from rich.live import Live

        until = None if seconds is None else time.monotonic() + seconds
        console = Console()
        with Live(self.snapshot(), console=console, auto_refresh=False) as screen:
            try:
                while not self._ended and (until is None or time.monotonic() < until):
                    screen.update(self.snapshot(), refresh=True)
                    time.sleep(_LOOK_EVERY_SECONDS)
            except KeyboardInterrupt:
                pass
            screen.update(self.snapshot(), refresh=True)

    def _repr_html_(self) -> str:
        return self.snapshot()._repr_html_()

    def _ipython_display_(self) -> None:
        """Called by notebooks: the display is redrawn when rows change."""
        from IPython.display import display

        handle = display(self.snapshot(), display_id=True)
        if handle is not None:
            self._displays.append(handle)
            self._draw()

    def _draw(self) -> None:
        for handle in self._displays:
            handle.update(self.snapshot())
