"""Functions that Flink has and Tidemark does not, with the reason."""

from __future__ import annotations

from tidemark.unsupported import NEVER, Unsupported

_BITMAPS = "bitmaps use a binary format of Flink that Spark has no functions for"
_OBJECTS = "structured types need Java classes"
_VARIANT = "type VARIANT is not supported"

_REASONS: dict[str, str] = {
    **dict.fromkeys(
        (
            "BITMAP_AND",
            "BITMAP_ANDNOT",
            "BITMAP_BUILD",
            "BITMAP_CARDINALITY",
            "BITMAP_FROM_BYTES",
            "BITMAP_OR",
            "BITMAP_TO_ARRAY",
            "BITMAP_TO_BYTES",
            "BITMAP_TO_STRING",
            "BITMAP_XOR",
        ),
        _BITMAPS,
    ),
    **dict.fromkeys(("OBJECT_OF", "OBJECT_UPDATE"), _OBJECTS),
    **dict.fromkeys(("PARSE_JSON", "TRY_PARSE_JSON"), _VARIANT),
    "JSON": "it is only allowed as a value in JSON_OBJECT or JSON_ARRAY (same in Flink)",
    "HASH_CODE": "it is not documented in Flink; use MD5 or SHA2",
    "SOURCE_WATERMARK": "sources do not provide watermarks of their own",
}

NOT_YET: dict[str, Unsupported] = {
    name: Unsupported("Functions", f"function {name}", why=reason, says=NEVER)
    for name, reason in _REASONS.items()
}
