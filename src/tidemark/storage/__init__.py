"""Files and folders wherever they are: on this machine, on HDFS, in an object store."""

from tidemark.storage.access import NO_ACCESS, Access
from tidemark.storage.locations import Found, Location
from tidemark.storage.uris import is_local, resolve, scheme_of, shown, spelled_for_spark

__all__ = [
    "NO_ACCESS",
    "Access",
    "Found",
    "Location",
    "is_local",
    "resolve",
    "scheme_of",
    "shown",
    "spelled_for_spark",
]
