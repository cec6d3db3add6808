"""The small language of signatures, and the matching of arguments to them."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import (
    Argument,
    Function,
    Parameter,
    Resolution,
    SignatureMismatch,
)

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
    "symbol": (t.Symbol,),
}

# ... or a type, to which narrower arguments are converted.
CONVERTED: dict[str, tuple[t.DataType, tuple[type[t.DataType], ...]]] = {
    "string": (t.STRING, t.CHARACTERS),
    "int": (t.Int(), (t.TinyInt, t.SmallInt, t.Int)),
    "bigint": (t.BigInt(), t.INTEGERS),
    "double": (t.Double(), t.NUMERICS),
}


def parse_signature(text: str) -> tuple[Parameter, ...]:
    """`(string, int, [int])`: `[x]` may be left out, `x...` may be repeated any number of times."""
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


def resolve(function: Function, arguments: tuple[Argument, ...]) -> Resolution:
    failures = []
    for signature in function.signatures:
        try:
            matched = _match(signature, arguments)
        except SignatureMismatch as mismatch:
            failures.append(str(mismatch))
            continue
        parameters = _converted(function, _retyped(arguments, matched))
        return Resolution(parameters, _result(function, _retyped(arguments, parameters)))
    raise SignatureMismatch(failures[0] if len(failures) == 1 else "no signature fits")


def _converted(function: Function, arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    if function.converts is None:
        return tuple(argument.type for argument in arguments)
    return function.converts(arguments)


def _retyped(
    arguments: tuple[Argument, ...], types: tuple[t.DataType, ...]
) -> tuple[Argument, ...]:
    pairs = zip(arguments, types, strict=True)
    return tuple(Argument(type_, argument.value) for argument, type_ in pairs)


def describe(function: Function) -> str:
    """The function's signatures as a person reads them."""
    return " or ".join(
        f"{function.name}({', '.join(_describe(p) for p in signature)})"
        for signature in function.signatures
    )


def _describe(parameter: Parameter) -> str:
    word = parameter.family + ("..." if parameter.repeated else "")
    return f"[{word}]" if parameter.optional and not parameter.repeated else word


def _match(
    signature: tuple[Parameter, ...], arguments: tuple[Argument, ...]
) -> tuple[t.DataType, ...]:
    required = sum(not p.optional for p in signature)
    unlimited = any(p.repeated for p in signature)
    if len(arguments) < required or (len(arguments) > len(signature) and not unlimited):
        few_or_many = "few" if len(arguments) < required else "many"
        raise SignatureMismatch(f"too {few_or_many} arguments: {len(arguments)}")
    places = _places(signature, len(arguments))
    return tuple(
        _convert(parameter, argument.type, number)
        for number, (parameter, argument) in enumerate(zip(places, arguments, strict=True), start=1)
    )


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
    elif isinstance(type_, (*FAMILIES[parameter.family], t.Null)):
        return type_
    raise SignatureMismatch(f"argument {number} is {type_.text()}, expected {parameter.family}")


def _result(function: Function, arguments: tuple[Argument, ...]) -> t.DataType:
    computed = callable(function.returns)
    result = function.returns(arguments) if callable(function.returns) else function.returns
    if not function.strict:
        return result
    return result.with_nullable((computed or result.nullable) and _nullable(arguments))


def _nullable(arguments: tuple[Argument, ...]) -> bool:
    return any(argument.type.nullable for argument in arguments) or not arguments
