"""The decoders by format name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.formats.csv import CsvDecoder
from tidemark.formats.decoded import Decoder
from tidemark.formats.json import JsonDecoder
from tidemark.formats.raw import RawDecoder

# Makes a decoder for fields, by their names in the format, and the table's options, which the
# format's connector has checked. Fields become columns with these names.
DECODERS: Mapping[str, Callable[[Sequence[t.Field], Mapping[str, Any]], Decoder]] = {
    "csv": CsvDecoder,
    "json": JsonDecoder,
    "raw": RawDecoder,
}
