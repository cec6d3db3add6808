"""The columns of kernels besides the user's own, and their values for "never"."""

from __future__ import annotations

from typing import Final

KIND: Final = "_tm_kind"  # +I, -U, +U or -D; absent if an input only inserts
HASH: Final = "_tm_hash"  # Int64; equal keys have equal hashes on every input
TIME: Final = "_tm_time"  # Int64; event time, milliseconds since 1970
ARRIVAL: Final = "_tm_arrival"  # Int64; the row's position among all rows of a step
STAMP: Final = "_tm_stamp"  # Int64; the operator's watermark just before the row
SEEN: Final = "_tm_seen"  # Int64; the watermark before the row where it is from
PLACE: Final = "_tm_place"  # String; the file that a row is from
FAULT: Final = "_tm_fault"  # why the job must fail because of the row; NULL for a valid one
SEQUENCE: Final = "_tm_sequence"  # Int64; the row's position among all rows so far

BEFORE_ALL: Final = -(2**63)  # the watermark before the first one
AFTER_ALL: Final = 2**63 - 1  # the watermark after the end of all inputs

ACCUMULATE: Final = ("+I", "+U")
