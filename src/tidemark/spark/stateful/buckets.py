"""Which key group a row belongs to, and the number that Spark sees for it."""

from __future__ import annotations

_MASK = 0xFFFFFFFF
_SPARK_SEED = 42


def labels(buckets: int) -> tuple[int, ...]:
    """One number per key group, chosen so that Spark's own hash distributes them evenly.

    Spark shuffles by the Murmur3 hash of the number, which would put several of the numbers 0 to n
    - 1 into one partition and none into another. The hash of the i-th label here is i modulo the
    number of key groups, so with any number of partitions that divides it, each gets an equal
    share.

    >>> labels(4)
    (12, 6, 2, 0)
    """
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < buckets:
        found.setdefault(_murmur3(candidate) % buckets, candidate)
        candidate += 1
    return tuple(found[bucket] for bucket in range(buckets))


def _murmur3(value: int) -> int:
    """Murmur3 of one 32-bit integer as Spark's `hash` computes it, as a signed number."""
    k = (value * 0xCC9E2D51) & _MASK
    k = (_rotate(k, 15) * 0x1B873593) & _MASK
    h = _SPARK_SEED ^ k
    h = (_rotate(h, 13) * 5 + 0xE6546B64) & _MASK
    h ^= 4
    h ^= h >> 16
    h = (h * 0x85EBCA6B) & _MASK
    h ^= h >> 13
    h = (h * 0xC2B2AE35) & _MASK
    h ^= h >> 16
    return h - (1 << 32) if h >= 1 << 31 else h


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _MASK
