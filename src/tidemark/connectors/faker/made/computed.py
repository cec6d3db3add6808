"""Values that are computed, as columns: numbers, times, addresses, cards."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.connectors.faker.made.pattern_columns import below, constant, matching, one_of
from tidemark.connectors.faker.made.pools import pool
from tidemark.connectors.faker.patterns import InOrder, OneOf, Pattern, pattern
from tidemark.connectors.made_rows.columns import strings
from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.connectors.made_rows.columns.rows import Longs


@dataclass(frozen=True, slots=True)
class CallOfRows:
    """A call, for rows that are made at times in milliseconds."""

    arguments: tuple[str, ...]
    draws: Draws
    now: Longs

    @property
    def rows(self) -> int:
        return len(self.draws.numbers)

    def integer(self, place: int, usual: int) -> int:
        return int(Decimal(self.arguments[place])) if place < len(self.arguments) else usual

    def below(self, bound: int, use: str = "") -> Longs:
        return below(self.draws, bound, use)

    def matching(self, made: Pattern) -> pa.Array:
        return matching(made, self.draws)


# --- numbers -----------------------------------------------------------------------------------


def number_between(call: CallOfRows) -> pa.Array:
    """The second bound is not included, unless it is the first one too."""
    low, high = call.integer(0, 0), call.integer(1, 0)
    return pa.array(low + call.below(max(high - low, 1)))


def random_double(call: CallOfRows) -> pa.Array:
    """A DOUBLE with so many decimals; the last argument is included."""
    decimals, low, high = (float(argument) for argument in call.arguments)
    values = low + call.draws.fractions() * (high - low)
    return pa.array(np.round(values, int(decimals)))


def random_digit(call: CallOfRows) -> pa.Array:
    return pa.array(call.below(10))


def random_digit_not_zero(call: CallOfRows) -> pa.Array:
    return pa.array(1 + call.below(9))


def random_number(call: CallOfRows) -> pa.Array:
    """Of at most so many digits, or of exactly so many if the second argument is `true`."""
    digits = call.integer(0, 9)
    strict = len(call.arguments) > 1 and call.arguments[1].lower() == "true"
    least = 10 ** (digits - 1) if strict and digits > 0 else 0
    return pa.array(least + call.below(max(10**digits - least, 1)))


def digits(call: CallOfRows) -> pa.Array:
    return call.matching(pattern(f"[0-9]{{{call.integer(0, 1)}}}"))


def positive(call: CallOfRows) -> pa.Array:
    return pa.array(1 + call.below(2**31 - 1))


def negative(call: CallOfRows) -> pa.Array:
    return pa.array(-1 - call.below(2**31))


def price(call: CallOfRows) -> pa.Array:
    """With two decimals."""
    low, high = (float(argument) for argument in call.arguments or ("0", "100"))
    return pa.array(np.round(low + call.draws.fractions() * (high - low), 2))


def boolean(call: CallOfRows) -> pa.Array:
    return pa.array(call.below(2) == 1)


# --- times -------------------------------------------------------------------------------------

_MS_OF: Final = {
    "NANOSECONDS": 1e-6,
    "MICROSECONDS": 1e-3,
    "MILLISECONDS": 1,
    "SECONDS": 1000,
    "MINUTES": 60_000,
    "HOURS": 3_600_000,
    "DAYS": 86_400_000,
}
_YEAR_MS: Final = 365.25 * 86_400_000


def past(call: CallOfRows) -> pa.Array:
    return _time(call.now - _distance(call))


def future(call: CallOfRows) -> pa.Array:
    return _time(call.now + _distance(call))


def between(call: CallOfRows) -> pa.Array:
    first, last = (
        np.datetime64(argument.replace(" ", "T"), "ms").astype(np.int64)
        for argument in call.arguments
    )
    return _time(first + call.below(max(int(last - first), 1)))


def birthday(call: CallOfRows) -> pa.Array:
    """Of people who are as old as that in years."""
    youngest, oldest = call.integer(0, 18), call.integer(1, 65)
    ages = youngest + call.draws.fractions() * (oldest - youngest)
    return _time(call.now - (ages * _YEAR_MS).astype(np.int64))


def _distance(call: CallOfRows) -> Longs:
    """In milliseconds: at most the first argument, at least the second one if there are three."""
    *bounds, unit = call.arguments
    most, least = float(bounds[0]), float(bounds[1]) if len(bounds) > 1 else 0.0
    shares = call.draws.fractions()
    return ((least + shares * (most - least)) * _MS_OF[unit.upper()]).astype(np.int64)


def _time(milliseconds: Longs) -> pa.Array:
    return pa.array(milliseconds.astype("M8[ms]"))


# --- patterns ----------------------------------------------------------------------------------

_DIGIT: Final = OneOf(string.digits)


def regexify(call: CallOfRows) -> pa.Array:
    return call.matching(pattern(call.arguments[0]))


def numerify(call: CallOfRows) -> pa.Array:
    """Each `#` is a digit."""
    return call.matching(_replaced(call.arguments[0], {"#": _DIGIT}))


def letterify(call: CallOfRows) -> pa.Array:
    """Each `?` is a letter."""
    return call.matching(_replaced(call.arguments[0], {"?": _letter(call)}))


def bothify(call: CallOfRows) -> pa.Array:
    return call.matching(_replaced(call.arguments[0], {"#": _DIGIT, "?": _letter(call)}))


def examplify(call: CallOfRows) -> pa.Array:
    """Each letter and digit is another one of its kind."""
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
    wanted = {character: OneOf(kind) for kind in kinds for character in kind}
    return call.matching(_replaced(call.arguments[0], wanted))


def _letter(call: CallOfRows) -> OneOf:
    upper = len(call.arguments) > 1 and call.arguments[1].lower() == "true"
    return OneOf(string.ascii_uppercase if upper else string.ascii_lowercase)


def _replaced(text: str, wanted: Mapping[str, Pattern]) -> Pattern:
    return InOrder(tuple(wanted.get(character, character) for character in text))


def option(call: CallOfRows) -> pa.Array:
    return one_of(call.draws, call.arguments)


# --- the internet ------------------------------------------------------------------------------


def uuid(call: CallOfRows) -> pa.Array:
    """Of version 4."""
    units = call.draws.digits(36).copy()
    for place in (8, 13, 18, 23):
        units[:, place] = ord("-")
    units[:, 14] = ord("4")
    units[:, 19] = np.frombuffer(b"89ab", np.uint8)[units[:, 19] % 4]
    return strings.of_lines(units)


def ip_address(call: CallOfRows) -> pa.Array:
    return _dotted(*(call.below(254, str(part)) + 2 for part in range(4)))


def public_ip_address(call: CallOfRows) -> pa.Array:
    """None of the networks that are private or of the machine itself."""
    firsts = [n for n in range(1, 224) if n not in (10, 127, 169, 172, 192)]
    first = np.array(firsts)[call.below(len(firsts), "first")]
    return _dotted(first, *(call.below(256, str(part)) for part in range(3)))


def private_ip_address(call: CallOfRows) -> pa.Array:
    """Of one of the three private networks."""
    network = call.below(3, "network")
    first = np.array([10, 172, 192])[network]
    second = call.below(256, "second")
    second = np.select([network == 0, network == 1], [second, 16 + second % 16], 168)
    return _dotted(first, second, call.below(256, "third"), call.below(256, "fourth"))


def _dotted(*parts: npt.NDArray[np.int64]) -> pa.Array:
    first, *others = (pa.array(part).cast(pa.large_string()) for part in parts)
    return strings.joined(first, *(piece for other in others for piece in (".", other)))


def first_part(call: CallOfRows) -> pa.Array:
    """A name as it is in addresses."""
    return one_of(call.draws, pc.ascii_lower(pool("first_name")))


def last_part(call: CallOfRows) -> pa.Array:
    plain = pc.replace_substring_regex(pool("last_name"), "[^A-Za-z]", "")
    return one_of(call.draws, pc.ascii_lower(plain))


# --- texts -------------------------------------------------------------------------------------


def words(call: CallOfRows) -> pa.Array:
    return _words(call, call.integer(0, 3))


def sentence(call: CallOfRows) -> pa.Array:
    text = _words(call, max(call.integer(0, 6), 1))
    return strings.joined(pc.utf8_capitalize(text), ".")


def paragraph(call: CallOfRows) -> pa.Array:
    sentences = []
    for number in range(max(call.integer(0, 3), 1)):
        draws = call.draws.field(str(number))
        sentences += [sentence(CallOfRows((), draws, call.now)), " "]
    return strings.joined(*sentences[:-1])


def _words(call: CallOfRows, count: int) -> pa.Array:
    if count < 1:
        return constant("", call.rows)
    each = [one_of(call.draws.field(str(number)), pool("word")) for number in range(count)]
    return strings.joined(each[0], *(piece for other in each[1:] for piece in (" ", other)))


def characters(call: CallOfRows) -> pa.Array:
    """Letters and digits: 255, or as many as the first argument says, or between both."""
    least = call.integer(0, 255)
    most = call.integer(1, least)
    return call.matching(pattern(f"[a-z0-9]{{{least},{most}}}"))


# --- finance -----------------------------------------------------------------------------------

_CARD_DIGITS: Final = 16


def credit_card(call: CallOfRows) -> pa.Array:
    """Numbers of 16 digits that Luhn's check accepts."""
    values = (call.draws.bytes(_CARD_DIGITS) % 10).astype(np.int64)
    values[:, 0] = 4 + values[:, 0] % 2
    doubled = values.copy()
    doubled[:, ::2] *= 2
    doubled[doubled > 9] -= 9
    values[:, -1] = (values[:, -1] - doubled.sum(axis=1)) % 10
    lines = np.full((call.rows, 19), ord("-"), np.uint8)
    for group in range(4):
        lines[:, 5 * group : 5 * group + 4] = values[:, 4 * group : 4 * group + 4] + ord("0")
    return strings.of_lines(lines)


def iban(call: CallOfRows) -> pa.Array:
    """German ones, whose check digits are right."""
    account = call.below(10**18)
    # The account and the country `DE`, as a number, and the check digits leave a remainder of 1.
    remainder = (account % 97 * (10**6 % 97) + 131_400) % 97
    checks = 98 - remainder
    return strings.joined("DE", _padded(checks, 2), _padded(account, 18))


def _padded(numbers: Longs, width: int) -> pa.Array:
    return pc.ascii_lpad(pa.array(numbers).cast(pa.large_string()), width, "0")


Make: TypeAlias = Callable[[CallOfRows], pa.Array]

COMPUTED: Final[Mapping[str, Make]] = {
    make.__name__: make
    for make in (
        *(number_between, random_double, random_digit, random_digit_not_zero, random_number),
        *(digits, positive, negative, price, boolean),
        *(past, future, between, birthday),
        *(regexify, numerify, letterify, bothify, examplify, option),
        *(uuid, ip_address, public_ip_address, private_ip_address, first_part, last_part),
        *(words, sentence, paragraph, characters, credit_card, iban),
    )
}
