"""Which options are secrets, and how they are masked."""

from __future__ import annotations

import re

# What marks an option of an unknown connector or of Spark as a secret: the words that Flink hides
# in its logs, and their other spellings.
_SECRET = re.compile(
    r"""password | passwd | passphrase | secret | token | credential
      | (api | access | account | service | private) [._-]? key
      | auth-params | basic-auth | jaas\.config | http-headers""",
    re.IGNORECASE | re.VERBOSE,
)
# Settings in a URL.
_IN_URL = re.compile(
    r"([?&;](?:ssl)?password=|://[^/:@'\s]*:(?=[^/@'\s]*@))([^&;@'\s]+)", re.IGNORECASE
)
_HIDDEN = "******"
_STRING = "'((?:[^']|'')*)'"
_PAIR = re.compile(rf"{_STRING}\s*=\s*{_STRING}")


def named_like_a_secret(option: str) -> bool:
    """Whether an option's name suggests that its value must not be shown."""
    return _SECRET.search(option) is not None


def shown(option: str, value: str, secret: bool | None = None) -> str:
    """The value of an option, unless it is a secret; without `secret`, its name decides. A URL is
    shown without the passwords in it.
    """
    hidden = named_like_a_secret(option) if secret is None else secret
    return _HIDDEN if hidden else _IN_URL.sub(rf"\1{_HIDDEN}", value)


def masked(sql: str) -> str:
    """The same SQL with asterisks for the values of options that are named like secrets.

    Its length and lines do not change, so that locations in it stay the same.
    """
    return _IN_URL.sub(lambda found: found[1] + asterisks(found[2]), _PAIR.sub(_masked_pair, sql))


def _masked_pair(pair: re.Match[str]) -> str:
    if not named_like_a_secret(pair[1]):
        return pair[0]
    start = pair.start(2) - pair.start()
    return pair[0][:start] + asterisks(pair[2]) + "'"


def asterisks(text: str) -> str:
    return re.sub(r"[^\n]", "*", text)
