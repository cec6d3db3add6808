"""The messages that a file of descriptors describes, found by the names of their Java classes.

Flink has a class of Java for each message. Here `protoc --descriptor_set_out` says what the class
would: the fields of the message, and by the options of its file the name of the class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from tidemark.errors import did_you_mean

# Of the library, whose types are not known to the type checker.
Descriptor: TypeAlias = Any
FieldDescriptor: TypeAlias = Any
Message: TypeAlias = Any

_SHOWN: Final = 20
PROTOC: Final = "protoc --include_imports --descriptor_set_out=FILE ..."


class BadDescriptors(Exception):
    """Why a file of descriptors cannot be used."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


class NoMessage(Exception):
    """Why a file of descriptors has not the message that is asked for."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


@dataclass(frozen=True, slots=True)
class MessageType:
    """A message, and whether its file is in the syntax `proto3`, whose fields are never absent."""

    descriptor: Descriptor
    made: type[Message]
    proto3: bool


def message_type(file: str, name: str) -> MessageType:
    """The message of a class. Raises BadDescriptors or NoMessage."""
    path = Path(file)
    try:
        changed = path.stat().st_mtime_ns
        return _message_type(path, changed, name)
    except OSError as problem:
        raise BadDescriptors(problem.strerror or str(problem), f"make it with {PROTOC}") from None


@lru_cache(maxsize=16)
def _message_type(path: Path, changed: int, name: str) -> MessageType:
    files = _files(path.read_bytes())
    full_name = _found(name, [each for file in files.values() for each in _names(file)])
    pool = _pool(files)
    descriptor = pool.FindMessageTypeByName(full_name)
    proto3 = files[descriptor.file.name].syntax == "proto3"
    return MessageType(descriptor, GetMessageClass(descriptor), proto3)


# --- files -------------------------------------------------------------------------------------


def _files(content: bytes) -> dict[str, FileDescriptorProto]:
    try:
        found = FileDescriptorSet.FromString(content).file
    except DecodeError:
        found = ()
    if not found or not all(each.name for each in found):
        raise BadDescriptors("it is not a set of descriptors", f"make it with {PROTOC}")
    return {each.name: each for each in found}


def _pool(files: dict[str, FileDescriptorProto]) -> DescriptorPool:
    """All files, each after those that it imports."""
    pool, added = DescriptorPool(), set[str]()

    def add(name: str, importer: str) -> None:
        if name in added:
            return
        added.add(name)
        if name not in files:
            raise BadDescriptors(
                f"{importer} imports {name}, which is not in it", f"make it with {PROTOC}"
            )
        for each in files[name].dependency:
            add(each, name)
        try:
            pool.AddSerializedFile(files[name].SerializeToString())
        except TypeError as problem:
            raise BadDescriptors(f"{name}: {problem}") from None

    for name in files:
        add(name, name)
    return pool


# --- names -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Names:
    full: str  # com.example.Outer.Inner
    java: str  # com.example.Protos$Outer$Inner


def _names(file: FileDescriptorProto) -> Iterator[_Names]:
    package = f"{file.package}." if file.package else ""
    in_java = file.options.java_package or file.package
    of_java = f"{in_java}." if in_java else ""
    if not file.options.java_multiple_files:
        of_java += f"{_outer_class(file)}$"
    for message in file.message_type:
        yield from _nested(message, package + message.name, of_java + message.name)


def _nested(message: Any, full: str, java: str) -> Iterator[_Names]:
    yield _Names(full, java)
    for inner in message.nested_type:
        if not inner.options.map_entry:
            yield from _nested(inner, f"{full}.{inner.name}", f"{java}${inner.name}")


def _outer_class(file: FileDescriptorProto) -> str:
    """What `protoc` calls the class of a file: after the file, unless something has its name."""
    if file.options.java_outer_classname:
        return str(file.options.java_outer_classname)
    base = file.name.rsplit("/", 1)[-1].removesuffix(".proto")
    words = re.findall(r"[A-Za-z]+|[0-9]+", base)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    taken = {each.name for each in (*file.enum_type, *file.service)}
    taken.update(name for each in file.message_type for name in _simple_names(each))
    return f"{name}OuterClass" if name in taken else name


def _simple_names(message: Any) -> Iterator[str]:
    yield message.name
    yield from (each.name for each in message.enum_type)
    for inner in message.nested_type:
        yield from _simple_names(inner)


def _found(name: str, known: list[_Names]) -> str:
    """The full name of the message that has this class, this full name or this simple name."""
    wanted = name.replace("$", ".")
    for fits in (
        [each for each in known if each.java.replace("$", ".") == wanted],
        [each for each in known if each.full == wanted],
        [each for each in known if each.full.rsplit(".", 1)[-1] == wanted],
    ):
        if len(fits) == 1:
            return fits[0].full
        if fits:
            listed = ", ".join(each.java for each in fits)
            raise NoMessage(f"several messages have the name '{name}'", f"these are {listed}")
    classes = [each.java for each in known]
    listed = ", ".join(classes[:_SHOWN]) + (", ..." if len(classes) > _SHOWN else "")
    hint = did_you_mean(name, classes)
    raise NoMessage(
        f"no message of the file has the class '{name}'",
        f"{hint} Classes are {listed}" if hint else f"classes are {listed}",
    )
