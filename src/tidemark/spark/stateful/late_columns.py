"""The columns in which late rows leave an operator, beside its results."""

from typing import Final

LATE: Final = "_tm_handed_out"  # late rows, packed
OUTLET: Final = "_tm_outlet"  # the number of their outlet
