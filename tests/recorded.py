"""The cases recorded from Flink, read once for all tests that hold something against them."""

from conformance.case_file import load_cases

CASES = load_cases()
