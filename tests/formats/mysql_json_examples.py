"""A plain writer of MySQL's binary JSON."""

from __future__ import annotations

import struct
from typing import Any


def stored(value: Any, *, large: bool) -> bytes:
    type_, content = typed(value, large)
    return bytes([type_]) + content


def typed(value: Any, large: bool) -> tuple[int, bytes]:
    match value:
        case None | True | False:
            return 4, bytes([{None: 0, True: 1, False: 2}[value]])
        case int():
            for number, form in ((5, "<h"), (7, "<i"), (9, "<q")):
                if abs(value) < 1 << 8 * struct.calcsize(form) - 1:
                    return number, struct.pack(form, value)
            return 10, struct.pack("<Q", value)
        case float():
            return 11, struct.pack("<d", value)
        case str():
            return 12, sized(value.encode())
        case list():
            return 3 if large else 2, container([], value, large)
    return 1 if large else 0, container(list(value), list(value.values()), large)


def sized(content: bytes) -> bytes:
    size, before = len(content), []
    while size >= 0x80:
        before.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*before, size]) + content


def container(keys: list[str], values: list[Any], large: bool) -> bytes:
    width, place = (4, "<I") if large else (2, "<H")
    head = 2 * width + len(keys) * (width + 2) + len(values) * (width + 1)
    names = [key.encode() for key in keys]
    entries, at = b"", head
    for name in names:
        entries += struct.pack(place, at) + struct.pack("<H", len(name))
        at += len(name)
    tail = b"".join(names)
    for value in values:
        type_, content = typed(value, large)
        if type_ == 4 or (type_ in (5, 6, 7, 8) and len(content) <= width):
            entries += bytes([type_]) + content.ljust(width, b"\0")
        else:
            entries += bytes([type_]) + struct.pack(place, head + len(tail))
            tail += content
    size = struct.pack(place, head + len(tail))
    return struct.pack(place, len(values)) + size + entries + tail
