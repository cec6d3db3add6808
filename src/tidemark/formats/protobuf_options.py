"""The options of the protobuf format."""

from __future__ import annotations

from typing import Final

NAME: Final = "protobuf"
CLASS: Final = f"{NAME}.message-class-name"
IGNORE: Final = f"{NAME}.ignore-parse-errors"
DEFAULTS: Final = f"{NAME}.read-default-values"
NULL_LITERAL: Final = f"{NAME}.write-null-string-literal"
DESCRIPTORS: Final = f"tidemark.{NAME}.descriptor-file"
