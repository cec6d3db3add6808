"""Functions over columns of doubles with the results of Java's `StrictMath`, bit for bit.

These are defined by the algorithms of fdlibm, to the last bit and on every machine. The libraries
of C, which Polars calls, round some of the last bits differently. Operations on whole columns round
after each step, as Java does, so the same steps give the same bits. Values for which a step
overflows, or which are replaced afterward, are computed all the same: call within
`np.errstate(all="ignore")`.
"""

from tidemark.columns.strict_math.arcs import acos, asin, atan, atan2
from tidemark.columns.strict_math.exponentials import cosh, exp, sinh, tanh
from tidemark.columns.strict_math.logarithms import log, log10
from tidemark.columns.strict_math.powers import power

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "cosh",
    "exp",
    "log",
    "log10",
    "power",
    "sinh",
    "tanh",
]
