"""Waits for coroutines on an event loop of its own.

The loop lasts as long as the process, so that what a function opens once, such as a connection,
stays usable. It has a thread of its own, because the calling one may run a loop already, as
notebooks do.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from functools import cache
from typing import Any, Final

# Flink's default of `table.exec.async-scalar.max-concurrent-operations`.
AT_ONCE: Final = 10


def awaited(
    function: Callable[..., Coroutine[Any, Any, Any]], rows: Iterable[tuple[Any, ...]]
) -> list[Any]:
    """What the function returns for each of the rows, in their order."""
    with _STARTING:
        loop = _loop()
    return asyncio.run_coroutine_threadsafe(_all(function, rows), loop).result()


# Several threads compute batches of rows.
_STARTING: Final = threading.Lock()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="tidemark-async", daemon=True).start()
    return loop


@cache
def _free() -> asyncio.Semaphore:
    """For all rows of a process: several batches of them may be computed at once."""
    return asyncio.Semaphore(AT_ONCE)


async def _all(
    function: Callable[..., Coroutine[Any, Any, Any]], rows: Iterable[tuple[Any, ...]]
) -> list[Any]:
    async def one(row: tuple[Any, ...]) -> Any:
        async with _free():
            return await function(*row)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(row)) for row in rows]
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [task.result() for task in tasks]
