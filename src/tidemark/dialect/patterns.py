"""MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.calls import CallParser
from tidemark.dialect.cursor import NUMBER

_UNUSUAL_ROWS = (
    ("SHOW", "EMPTY", "MATCHES"),
    ("OMIT", "EMPTY", "MATCHES"),
    ("WITH", "UNMATCHED", "ROWS"),
)


class PatternParser(CallParser):
    """Adds pattern recognition to calls."""

    def match_recognize(self, relation: exp.Expression) -> exp.Expression:
        self.expect("MATCH_RECOGNIZE", "(")
        match = nodes.MatchRecognize(this=relation)
        match.set("partition_by", self.partition_by() or None)
        if self.at("ORDER"):
            match.set("order", self.order_by())
        if self.take("MEASURES"):
            match.set("measures", self.listed(self._measure))
        match.set("rows", self._rows_per_match())
        if self.at("AFTER"):
            match.set("after", self._after_match())
        self.expect("PATTERN", "(")
        match.set("pattern", self._choice())
        self.expect(")")
        if self.take("WITHIN"):
            match.set("within", self.expression())
        if self.take("SUBSET"):
            match.set("subsets", self.listed(self._subset))
        self.expect("DEFINE")
        match.set("define", self.listed(self._definition))
        self.expect_close(")")
        return match

    def _measure(self) -> exp.Expression:
        start = self.here
        value = self.expression()
        self.expect("AS")
        return self.located(exp.Alias(this=value, alias=self._identifier()), start)

    def _running_or_final(self) -> exp.Expression | None:
        """`FINAL LAST(x)`: the word is followed by a call, which no other expression is."""
        if self.peek(2) != "(":
            return None
        start, word = self.here, self.key
        self.here += 1
        call = self._name_or_call(self.here)
        return self.located(nodes.OverMatch(this=call, kind=word), start)

    def _rows_per_match(self) -> str | None:
        if self.take("ONE", "ROW"):
            self.expect("PER", "MATCH")
            return "ONE ROW PER MATCH"
        if not self.take("ALL", "ROWS"):
            return None
        self.expect("PER", "MATCH")
        for words in _UNUSUAL_ROWS:
            if self.take(*words):
                return f"ALL ROWS PER MATCH {' '.join(words)}"
        return "ALL ROWS PER MATCH"

    def _after_match(self) -> exp.Expression:
        start = self.here
        self.expect("AFTER", "MATCH", "SKIP")
        if self.take("PAST", "LAST", "ROW"):
            return self.located(nodes.AfterMatch(kind="PAST LAST ROW"), start)
        self.expect("TO")
        if self.take("NEXT", "ROW"):
            return self.located(nodes.AfterMatch(kind="TO NEXT ROW"), start)
        end = "FIRST" if self.take("FIRST") else "LAST"
        self.take("LAST")
        after = nodes.AfterMatch(this=self._identifier(), kind=f"TO {end}")
        return self.located(after, start)

    def _subset(self) -> exp.Expression:
        start = self.here
        name = self._identifier()
        self.expect("=", "(")
        subset = nodes.Subset(this=name, expressions=self.enclosed(self._identifier))
        return self.located(subset, start)

    def _definition(self) -> exp.Expression:
        start = self.here
        name = self._identifier()
        self.expect("AS")
        return self.located(exp.Alias(this=self.expression(), alias=name), start)

    def _choice(self) -> exp.Expression:
        """`a b | c d`"""
        with self.deeper():
            start = self.here
            choices = [self._sequence()]
            while self.take("|"):
                choices.append(self._sequence())
            if len(choices) == 1:
                return choices[0]
            return self.located(nodes.PatternChoice(expressions=choices), start)

    def _sequence(self) -> exp.Expression:
        start = self.here
        steps = []
        while self.at_name() or self.at("(", "{", "^", "$", "PERMUTE"):
            steps.append(self._repeated())
        if len(steps) == 1:
            return steps[0]
        return self.located(nodes.PatternSequence(expressions=steps), start)

    def _repeated(self) -> exp.Expression:
        start = self.here
        step = self._step()
        bounds = self._quantifier()
        if bounds is None:
            return step
        greedy = not self.take("?")
        repeat = nodes.PatternRepeat(this=step, least=bounds[0], most=bounds[1], greedy=greedy)
        return self.located(repeat, start)

    def _step(self) -> exp.Expression:
        start = self.here
        if self.take("("):
            inside = self._choice()
            self.expect(")")
            return inside
        if self.take("{", "-"):
            excluded = self._choice()
            self.expect("-", "}")
            return self.located(nodes.PatternExclude(this=excluded), start)
        anchor = self.take_any("^", "$")
        if anchor is not None:
            return self.located(nodes.PatternAnchor(this=anchor), start)
        if self.take("PERMUTE"):
            self.expect("(")
            return self.located(
                nodes.PatternPermute(expressions=self.enclosed(self._choice)), start
            )
        return self.located(nodes.PatternVariable(this=self._identifier()), start)

    def _quantifier(self) -> tuple[int, int | None] | None:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        mark = self.take_any(*simple)
        if mark is not None:
            return simple[mark]
        if not self.at("{") or self.peek() == "-":
            return None
        self.here += 1
        least = 0 if self.at(",") else self._integer(0, 10_000, "a repetition count")
        most: int | None = least
        if self.take(","):
            most = None
            if self.at(NUMBER):
                most = self._integer(max(least, 1), 10_000, "a repetition count")
        self.expect("}")
        return least, most

    _SPECIAL_WORDS: dict[str, Callable[[Any], exp.Expression | None]] = {  # noqa: RUF012
        **CallParser._SPECIAL_WORDS,
        "RUNNING": _running_or_final,
        "FINAL": _running_or_final,
    }
