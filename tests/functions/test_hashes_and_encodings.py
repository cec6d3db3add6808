"""Digests and character sets: what is refused while planning."""

import pytest

from tidemark import functions
from tidemark import types as t
from tidemark.functions.registry import Argument, SignatureMismatch, SparkCall

TEXT = Argument(t.STRING)


@pytest.mark.parametrize("bits", [0, 1, 160])
def test_sha2_refuses_lengths_it_does_not_have(bits):
    with pytest.raises(SignatureMismatch, match=f"not {bits}"):
        functions.BUILT_IN["SHA2"].resolve([TEXT, Argument(t.Int(), bits)])


@pytest.mark.parametrize("name", ["ENCODE", "DECODE"])
def test_a_character_set_must_be_one_of_six(name):
    value = Argument(t.BYTES if name == "DECODE" else t.STRING)

    with pytest.raises(SignatureMismatch, match="'KOI8-R', expected one of US-ASCII"):
        functions.BUILT_IN[name].resolve([value, Argument(t.STRING, "KOI8-R")])
    assert functions.BUILT_IN[name].resolve([value, Argument(t.STRING, "utf-8")])


def test_a_length_that_is_only_known_at_run_time_is_checked_there():
    arguments = (TEXT, Argument(t.Int()))
    text = functions.BUILT_IN["SHA2"].write(SparkCall(("s", "n"), arguments, t.VarChar(128), "UTC"))

    assert "raise_error" in text
