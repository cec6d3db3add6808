"""Fetches the jars of all tests, so that they are there when a test asks for them."""

from bench.jars import NoJars, fetched
from tests.jars import HERE

for wanted in sorted(HERE.glob("*.xml")):
    try:
        fetched(wanted)
    except NoJars as problem:
        # A test that needs them says so, too.
        print(f"the jars of {wanted.name} cannot be had: {problem}")
