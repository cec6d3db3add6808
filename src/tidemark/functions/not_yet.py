"""Functions that Flink has and no theme here covers, with the reason."""

from __future__ import annotations

_BITMAPS = "bitmaps are bytes in a format of Flink's own, which Spark has no functions for"
_OBJECTS = "structured types are classes of Java"
_VARIANT = "the type VARIANT is not there"

NOT_YET: dict[str, str] = {
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
    "JSON": "it may stand only where JSON_OBJECT or JSON_ARRAY take a value, in Flink as well",
    "HASH_CODE": "Flink's documentation does not know it; MD5 and SHA2 give digests",
    "CURRENT_DATABASE": "SHOW CURRENT DATABASE tells it; expressions do not know the session",
    "CURRENT_WATERMARK": "only stateful operators know the watermark of each row",
    "SOURCE_WATERMARK": "sources do not tell watermarks of their own",
}
