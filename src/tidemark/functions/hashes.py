"""Digests of strings and bytes, as hexadecimal strings."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar

_SHA2_BITS = (224, 256, 384, 512)


def _checked_bits(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    bits = arguments[1]
    if isinstance(bits.value, int) and bits.value not in _SHA2_BITS:
        raise SignatureMismatch(
            f"SHA2 needs a length of 224, 256, 384 or 512 bits, not {bits.value}"
        )
    return tuple(argument.type for argument in arguments)


def _write_sha2(call: SparkCall) -> str:
    """Spark treats 0 as 256 and returns NULL for other lengths; Flink fails for both."""
    text, bits = call.args
    if call.literal(1) in _SHA2_BITS:
        return f"sha2({text}, {bits})"
    known = ", ".join(str(length) for length in _SHA2_BITS)
    unknown = (
        f"raise_error(concat('SHA2 needs a length of 224, 256, 384 or 512 bits, not ', {bits}))"
    )
    return (
        f"CASE WHEN {bits} IN ({known}) THEN sha2({text}, {bits}) "
        f"WHEN {bits} IS NOT NULL AND {text} IS NOT NULL THEN {unknown} END"
    )


def _digest(name: str, digits: int, spark: str) -> Function:
    return scalar(
        name,
        "(text)",
        t.Char(digits),
        spark,
        category="hash",
        summary=f"The {name} digest in {digits} hexadecimal digits.",
    )


FUNCTIONS: tuple[Function, ...] = (
    _digest("MD5", 32, "md5({0})"),
    _digest("SHA1", 40, "sha1({0})"),
    _digest("SHA224", 56, "sha2({0}, 224)"),
    _digest("SHA256", 64, "sha2({0}, 256)"),
    _digest("SHA384", 96, "sha2({0}, 384)"),
    _digest("SHA512", 128, "sha2({0}, 512)"),
    scalar(
        "SHA2",
        "(text, int)",
        t.VarChar(128),
        _write_sha2,
        category="hash",
        summary="The SHA-2 digest of 224, 256, 384 or 512 bits in hexadecimal digits.",
        converts=_checked_bits,
    ),
)
