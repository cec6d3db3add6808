"""Fetches the jars of all tests, so that they are there when a test asks for them."""

from bench.jars import NoJars, fetched
from tests.jars import HERE

# Debezium's 70 jars are fetched by those who ask for its tests: see `tests/servers/test_debezium.py`.
for wanted in sorted({*HERE.glob("*.xml")} - {HERE / "debezium.xml"}):
    try:
        fetched(wanted)
    except NoJars as problem:
        # A test that needs them says so, too.
        print(f"the jars of {wanted.name} cannot be had: {problem}")
