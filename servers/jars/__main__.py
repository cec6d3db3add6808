"""Fetches the jars of all tests, so that they are there when a test asks for them."""

from servers.jars.fetching import HERE, fetched
from servers.missing import Missing

# Debezium's 70 jars are fetched by those who ask for them, as `tests/servers/test_debezium.py`.
for wanted in sorted({*HERE.glob("*.xml")} - {HERE / "debezium.xml"}):
    try:
        fetched(wanted)
    except Missing as problem:
        # A test that needs them says so, too.
        print(problem)
