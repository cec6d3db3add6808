"""Results that threads compute while earlier ones are used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def ahead(
    compute: Callable[[A], B], values: Iterable[A], threads: int
) -> Iterator[tuple[A, Callable[[], B]]]:
    """Each value, in order, and what returns its result. No more values are taken at a time than
    there are threads, besides the one that is used; with a single thread, that computes itself.
    """
    rest = iter(values)
    if threads < 2:
        yield from ((value, partial(compute, value)) for value in rest)
        return
    first = [*islice(rest, 2)]
    if len(first) < 2:  # not worth a thread
        yield from ((value, partial(compute, value)) for value in first)
        return
    pool = ThreadPoolExecutor(threads, "ahead")
    waiting: deque[tuple[A, Future[B]]] = deque()
    try:
        for value in (*first, *islice(rest, threads - 2)):
            waiting.append((value, pool.submit(compute, value)))
        while waiting:
            value, future = waiting.popleft()
            yield value, future.result
            waiting.extend((after, pool.submit(compute, after)) for after in islice(rest, 1))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
