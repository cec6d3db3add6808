"""The small language of signatures, and how arguments are matched to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark import types as t


class UnknownValue:
    """Marks an argument whose value is not known during planning."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = UnknownValue()


@dataclass(frozen=True, slots=True)
class Argument:
    """What the planner knows about an argument: its type, and its value if it is a literal."""

    type: t.DataType
    value: Any = UNKNOWN

    @property
    def is_literal(self) -> bool:
        return self.value is not UNKNOWN


class SignatureMismatch(Exception):
    """The arguments do not match; the message explains which and why."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature: a family of types, or one type that others convert to."""

    family: str
    optional: bool = False
    repeated: bool = False

    @property
    def words(self) -> str:
        """The parameter in readable form."""
        word = self.family + ("..." if self.repeated else "")
        return f"[{word}]" if self.optional and not self.repeated else word


# A parameter is one of these families (the argument keeps its own type) ...
FAMILIES: dict[str, tuple[type[t.DataType], ...]] = {
    "any": (t.DataType,),
    "boolean": (t.Boolean,),
    "integer": t.INTEGERS,
    "numeric": t.NUMERICS,
    "exact": (*t.INTEGERS, t.Decimal),
    "character": t.CHARACTERS,
    "bytes": t.BINARIES,
    "text": (*t.CHARACTERS, *t.BINARIES),
    "date": (t.Date,),
    "time": (t.Time,),
    "timestamp": (t.Timestamp,),
    "ltz": (t.TimestampLtz,),
    "instant": t.TIMESTAMPS,
    "datetime": (t.Date, t.Time, *t.TIMESTAMPS),
    "interval": t.INTERVALS,
    "array": (t.Array,),
    "map": (t.Map,),
    "multiset": (t.Multiset,),
    "row": (t.Row,),
    "collection": (t.Array, t.Map, t.Multiset, t.Row),
    "symbol": (t.KeywordType,),
}

_NESTED = ("array", "map", "multiset", "row", "collection")

# ... or a type, to which narrower arguments are converted.
CONVERTED: dict[str, tuple[t.DataType, tuple[type[t.DataType], ...]]] = {
    "string": (t.STRING, t.CHARACTERS),
    "int": (t.Int(), (t.TinyInt, t.SmallInt, t.Int)),
    "bigint": (t.BigInt(), t.INTEGERS),
    "double": (t.Double(), t.NUMERICS),
}


def parse_signature(text: str) -> tuple[Parameter, ...]:
    """`(string, int, [int])`: `[x]` is optional, `x...` may be repeated any number of times."""
    inside = text.strip().removeprefix("(").removesuffix(")")
    return tuple(_parse_parameter(part.strip()) for part in inside.split(",") if part.strip())


def _parse_parameter(text: str) -> Parameter:
    optional = text.startswith("[")
    word = text.strip("[]").strip()
    repeated = word.endswith("...")
    word = word.removesuffix("...")
    if word not in FAMILIES and word not in CONVERTED:
        raise ValueError(f"unknown parameter family `{word}` in a signature")
    return Parameter(word, optional or repeated, repeated)


def retyped(arguments: Sequence[Argument], types: tuple[t.DataType, ...]) -> tuple[Argument, ...]:
    """The arguments after conversion."""
    pairs = zip(arguments, types, strict=True)
    return tuple(Argument(type_, argument.value) for argument, type_ in pairs)


def match(
    signature: tuple[Parameter, ...], arguments: tuple[Argument, ...]
) -> tuple[t.DataType, ...]:
    """The types that the signature converts the arguments to. Raises SignatureMismatch."""
    required = sum(not p.optional for p in signature)
    unlimited = any(p.repeated for p in signature)
    if len(arguments) < required or (len(arguments) > len(signature) and not unlimited):
        few_or_many = "few" if len(arguments) < required else "many"
        raise SignatureMismatch(f"too {few_or_many} arguments: {len(arguments)}")
    places = _places(signature, len(arguments))
    _check_nested(places, arguments)
    return tuple(
        _convert(parameter, argument.type, number)
        for number, (parameter, argument) in enumerate(zip(places, arguments, strict=True), start=1)
    )


def _check_nested(places: Sequence[Parameter], arguments: Sequence[Argument]) -> None:
    """The result depends on the types inside of arrays, maps and rows."""
    for number, (place, given) in enumerate(zip(places, arguments, strict=True), start=1):
        if place.family in _NESTED and isinstance(given.type, t.Null):
            why = f"argument {number} is NULL, which has no type here; CAST it to one"
            raise SignatureMismatch(why)


def _places(signature: tuple[Parameter, ...], count: int) -> tuple[Parameter, ...]:
    if any(p.repeated for p in signature):
        fixed = signature[:-1]
        return (fixed + (signature[-1],) * max(0, count - len(fixed)))[:count]
    return signature[:count]


def _convert(parameter: Parameter, type_: t.DataType, number: int) -> t.DataType:
    if parameter.family in CONVERTED:
        target, accepted = CONVERTED[parameter.family]
        if isinstance(type_, (*accepted, t.Null)):
            return target.with_nullable(type_.nullable)
    elif isinstance(type_, t.Null) and parameter.family in ("character", "text"):
        return t.STRING
    elif isinstance(type_, (*FAMILIES[parameter.family], t.Null)):
        return type_
    raise SignatureMismatch(f"argument {number} is {type_.text()}, expected {parameter.family}")
