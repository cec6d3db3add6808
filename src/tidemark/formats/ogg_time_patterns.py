"""The strings that are times of Ogg events: as SQL writes them, and with a T."""

from __future__ import annotations

SQL_TIME = (
    r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"( [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.][0-9]{1,9})?)?$"
)
ISO_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}$"
