"""The trees of queries and scalar expressions: the contract between the parser and its readers.

Trees are made of sqlglot's nodes where those fit and of the classes below where they do not.
All nodes survive `copy()`, compare with `==` (positions do not count) and print through
`to_sql`. `span_of(node)` gives the source stretch of every node the parser made.

**Names.** `exp.Identifier(this, quoted)`; names are case-sensitive, and `quoted` only records
whether the name needs back quotes when printed, so `` `a` `` equals `a`. A dotted name in an
expression is `exp.Column(this, table, db, catalog)` for up to four parts (the last part is
`this`) and `exp.Dot(<that column>, Identifier)` for each further part. Whether `a.b` means column
`b` of table `a` or field `b` of row `a` is the planner's to decide: `name_path` gives the parts
of both shapes. A field of anything else (`(row).a`, `f(x).a`, `arr[1].a`) is
`exp.Dot(this, expression=Identifier)`. `*` is `exp.Star()`, `t.*` is
`exp.Column(this=Star, table=t)` (and `a.b.*` has `db`), `(row).*` is `exp.Dot(row, Star)`.

**Calls.** Every call is `exp.Anonymous(this=<name as written>, expressions=[arguments])`:
nothing is canonicalized, and `==` ignores the case of the name. Parenthesis-free functions
(`CURRENT_TIMESTAMP`, `CURRENT_DATE`, `CURRENT_TIME`, `LOCALTIME`, `LOCALTIMESTAMP`,
`CURRENT_CATALOG`, ...) have no arguments; `has_parentheses` says whether those are written. A
qualified name (`cat.db.f(x)`) is a `QualifiedCall`, a subclass of Anonymous. Calls with keywords
inside come with normalized arguments, the keyword as a `Symbol` in upper case:

    EXTRACT(DAY FROM x)             EXTRACT[Symbol(DAY), x]
    TRIM([BOTH] ['x'] FROM y)       TRIM[Symbol(BOTH), 'x', y]; TRIM(y) is TRIM[y]
    POSITION(a IN b [FROM n])       POSITION[a, b, n?]
    SUBSTRING(x FROM a [FOR b])     SUBSTRING[x, a, b?]
    OVERLAY(x PLACING y FROM a [FOR b])   OVERLAY[x, y, a, b?]
    CEIL(x TO DAY), FLOOR(...)      CEIL[x, Symbol(DAY)]
    TIMESTAMPADD(DAY, 1, ts), TIMESTAMPDIFF(...)   [Symbol(DAY), 1, ts]
    x IS [NOT] JSON [VALUE|SCALAR|ARRAY|OBJECT]   `IS JSON VALUE`, ...[x] (NOT: exp.Not around it)
    f(a => 1)                       f[NamedArgument(a, 1)]
    DESCRIPTOR(a, b)                Descriptor(expressions=[Identifier, ...])
    COUNT(*)                        COUNT[Star]
    f(DISTINCT a, b)                f[exp.Distinct(expressions=[a, b])]

JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_OBJECT, JSON_ARRAY, JSON_OBJECTAGG and JSON_ARRAYAGG are
always a `JsonCall`. What may follow a call wraps it, innermost first: `exp.IgnoreNulls` or
`exp.RespectNulls`, `exp.WithinGroup(this, expression=Order)`,
`exp.Filter(this, expression=Where)`,
`exp.Window(this, partition_by=[...], order=Order?, spec=WindowSpec?, alias=Identifier?)`.
`alias` is the named window of `OVER w` or `OVER (w ...)`. `WindowSpec` has `kind` ROWS or RANGE,
`start` and `end` (the text UNBOUNDED or CURRENT ROW, or an expression), `start_side` and
`end_side` (PRECEDING, FOLLOWING or None); `ROWS n PRECEDING` gets the end CURRENT ROW.
Also `exclude` is never there. Named windows are `select.args["windows"]`, each
`exp.Window(this=Identifier, ...)`.

**Literals.** Numbers and strings are `exp.Literal`: a number's text as written, a string's
content (`U&'..'` and `_UTF8'..'` are decoded). `X'0F'` is `exp.HexString(this='0F')`. NULL is
`exp.Null`, TRUE and FALSE `exp.Boolean`, UNKNOWN `Unknown`. `DATE '..'` and its like are
`TypedLiteral`, intervals `IntervalLiteral`, `(a - b) DAY` is a `Difference`. A minus before a
number is `exp.Neg(Literal)`; a plus before a constant leaves no trace, and is a `Plus` elsewhere.

**Operators.** `Add Sub Mul Div Mod(%) Neg DPipe EQ NEQ LT LTE GT GTE And Or Not Paren`,
`Between(this, low, high, symmetric=True?)`, `Like` and `SimilarTo` (inside
`exp.Escape(this=<it>, expression)` when there is an ESCAPE), `In(this, expressions=[...])` or
`In(this, query=Subquery)`, `Exists(this=query)`, `Is(this, expression=Null|Boolean|Unknown)`,
`NullSafeEQ` for IS NOT DISTINCT FROM and `NullSafeNEQ` for IS DISTINCT FROM,
`Overlaps(this=row, expression=row)` and the other period predicates as `PeriodPredicate`, `EQ(x,
Any(Subquery))` and `All` for quantified comparisons. The NOT of `NOT IN`, `IS NOT NULL`, `NOT
BETWEEN`, ... is an `exp.Not` around the predicate. `CASE` is `exp.Case(this=operand?,
ifs=[exp.If(this=when, true=then)], default=?)`; `WHEN 1, 2 THEN` of a simple CASE gives one `If`
for each value. `CAST` and `TRY_CAST` are `exp.Cast` and `exp.TryCast` whose `to` is a `TypeNode`.
`a[i]` is `exp.Bracket(this, expressions=[i])` with the index as written (Flink counts from one). A
scalar subquery is `exp.Subquery(this=query)`. `exp.Paren` is kept.
`ROW(a, b)` and `(a, b)` are `RowConstructor`; `ARRAY[..]`, `MAP[..]`, `MULTISET[..]` are
`ArrayConstructor`, `MapConstructor` (keys and values in turn) and `MultisetConstructor`.

**Queries** are `exp.Select`, `exp.Union|Intersect|Except(this, expression, distinct)`,
`exp.Values(expressions=[exp.Tuple])` or, in parentheses, `exp.Subquery(this=query)`. `TABLE t`
becomes `SELECT * FROM t`. Each may have `with_` (`exp.With(expressions=[exp.CTE(this=query,
alias=TableAlias(this, columns))], recursive)`), `order` (`exp.Order` of
`exp.Ordered(this, desc=bool, nulls_first=True|False|None)`), `limit` (`exp.Limit(expression)`, also
for FETCH FIRST) and `offset`. A select has `expressions`, `distinct` (`exp.Distinct()`), `from_`
(`exp.From(this=relation)`), `joins`, `where`, `group`, `having`, `windows`,
`qualify` (`exp.Qualify(this=condition)`), `hints`.
`exp.Group(expressions=[...])` keeps all elements in order: expressions, `exp.Tuple` for `(a, b)`
and `()`, `exp.Rollup`, `exp.Cube` and `exp.GroupingSets` (their `expressions` are the same kinds
of element).

**Relations** (in FROM and JOIN): `exp.Table(this, db, catalog)`,
`exp.Subquery(this=query)` (VALUES included), `TableFunction` (window functions and
`TABLE(f(x))`), `exp.Lateral(this=TableFunction | Subquery)`,
`exp.Unnest(expressions=[x], ordinality=True?)`, `MatchRecognize`, `JoinGroup` for joins in
parentheses. All but JoinGroup may have `alias` (`exp.TableAlias(this, columns=[Identifier])`),
`as_of` (the expression of FOR SYSTEM_TIME AS OF) and `hints` (a list of `Hint`) in `args`.

**Joins** are `exp.Join(this=relation, ...)` in the `joins` of the select: `kind` is INNER, CROSS,
COMMA (`FROM a, b`) or None, then `side` is LEFT, RIGHT or FULL; `method` is NATURAL or None;
`on` an expression or `using` a list of Identifier. A COMMA join has an `on` only in the older
spelling `FROM a, b FOR SYSTEM_TIME AS OF a.ts AS b ON ...`, where it means INNER.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlglot import exp

from tidemark.types import DataType

_PARENTHESES: Final = "parentheses"


class TypeNode(exp.Expression):
    """The target of a cast. `data_type` is a `tidemark.types.DataType`; make one with `of`."""

    # Types of the same shape share a hash; comparing the type string too tells nodes apart.
    arg_types: ClassVar[dict[str, bool]] = {"this": True, "type": True}
    _hash_raw_args: ClassVar[bool] = True

    @classmethod
    def of(cls, data_type: DataType) -> TypeNode:
        return cls(this=str(data_type), type=data_type)

    @property
    def data_type(self) -> DataType:
        found = self.args["type"]
        assert isinstance(found, DataType)
        return found


class TypedLiteral(exp.Expression, exp.Condition):
    """`DATE '2024-01-01'`: `kind` is DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ, `this` the string."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True}
    _hash_raw_args: ClassVar[bool] = True


class IntervalLiteral(exp.Expression, exp.Condition):
    """`INTERVAL [-]'1:30' MINUTE(2) TO SECOND(3)`.

    `this` is the string between the quotes, `first` and `last` the units in singular upper case
    (`last` is None if there is one unit), `precision` the digits of the first unit, `fraction`
    those of the seconds (None if not given); `negative` is True after a minus sign.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "first": True,
        "last": False,
        "precision": False,
        "fraction": False,
        "negative": False,
    }
    _hash_raw_args: ClassVar[bool] = True


class Difference(exp.Expression, exp.Condition):
    """`(this - expression) DAY TO SECOND`: the interval between two times; `unit` is an
    `IntervalLiteral` of one unit, whose units are those of the result.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True, "unit": True}


class Plus(exp.Expression, exp.Condition):
    """`+this`: the same value, but no longer a column with a name."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Unknown(exp.Expression, exp.Condition):
    """The truth value UNKNOWN: a BOOLEAN NULL."""

    arg_types: ClassVar[dict[str, bool]] = {}


class SubqueryValue(exp.Expression, exp.Condition):
    """What a subquery was: the planner puts the number of its value there."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class OfStars(exp.Expression, exp.Condition):
    """A name in ORDER BY that no item of the SELECT list has: a column of one of its `expressions`,
    which are `*` or `t.*`, or else of FROM. The planner puts it there.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": True}


class Symbol(exp.Expression):
    """A keyword used as an argument, in upper case, such as DAY in `EXTRACT(DAY FROM ts)`."""

    _hash_raw_args: ClassVar[bool] = True


class RowConstructor(exp.Expression, exp.Condition):
    """`ROW(a, b)` or `(a, b)`: `expressions` are the fields."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class ArrayConstructor(exp.Expression, exp.Condition):
    """`ARRAY[a, b]`"""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": False}


class MapConstructor(exp.Expression, exp.Condition):
    """`MAP[k1, v1, k2, v2]`: `expressions` are keys and values in turn."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": False}


class MultisetConstructor(exp.Expression, exp.Condition):
    """`MULTISET[a, b]`"""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": False}


class PeriodPredicate(exp.Expression, exp.Condition):
    """`(a, b) CONTAINS (c, d)`; `kind` is CONTAINS, EQUALS, PRECEDES, SUCCEEDS,
    IMMEDIATELY PRECEDES or IMMEDIATELY SUCCEEDS. OVERLAPS is `exp.Overlaps`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True, "expression": True}


class QualifiedCall(exp.Anonymous):
    """A call through a qualified name: `qualifier` holds the Identifiers before the last part."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "qualifier": True, "expressions": False}


class JsonCall(exp.Expression, exp.Condition):
    """A JSON function of the SQL standard.

    `this` is the name in upper case and `expressions` are the arguments: input and path, the
    elements of JSON_ARRAY, or for JSON_OBJECT and JSON_OBJECTAGG keys and values in turn.
    The clauses, None when not written:

    - `returning`: TypeNode
    - `on_empty`, `on_error`: a `JsonBehavior`
    - `wrapper`: WITHOUT ARRAY, WITH UNCONDITIONAL ARRAY or WITH CONDITIONAL ARRAY
    - `on_null`: NULL or ABSENT
    - `order`: exp.Order of JSON_ARRAYAGG
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "expressions": False,
        "returning": False,
        "on_empty": False,
        "on_error": False,
        "wrapper": False,
        "on_null": False,
        "order": False,
    }


class JsonBehavior(exp.Expression):
    """The result for ON EMPTY or ON ERROR: `kind` is NULL, ERROR, TRUE, FALSE, UNKNOWN, EMPTY
    ARRAY, EMPTY OBJECT or DEFAULT, in which case `this` is the value.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": False, "kind": True}


class NamedArgument(exp.Expression):
    """`name => expression`: `this` is an Identifier, `expression` any argument."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class Descriptor(exp.Expression):
    """`DESCRIPTOR(a, b)`: `expressions` are Identifiers."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class DefaultArgument(exp.Expression):
    """`DEFAULT` in place of an argument of TO_CHANGELOG and FROM_CHANGELOG."""

    arg_types: ClassVar[dict[str, bool]] = {}


class TableArgument(exp.Expression):
    """`TABLE t [PARTITION BY a, b] [ORDER BY c]` as an argument.

    `this` is an `exp.Table`, an `exp.Subquery` (a query instead of `TABLE t`) or a
    `TableFunction`; `partition_by` a list of expressions, `order` an `exp.Order`.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition_by": False, "order": False}


class TableFunction(exp.Expression):
    """A function call as a relation, with or without `TABLE( )` around it.

    `this` is the name as written, `qualifier` a list of Identifiers before it (None when there
    are none), `expressions` the arguments: scalars, `TableArgument`, `Descriptor` or
    `NamedArgument` of these. A table named by a bare `TABLE t` is a `TableArgument` too.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "qualifier": False,
        "expressions": False,
        "alias": False,
        "as_of": False,
        "hints": False,
    }


class JoinGroup(exp.Expression):
    """Joins in parentheses, `(a JOIN b ON ...)`: `this` is the first relation, `joins` the rest."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "joins": True}


class Hint(exp.Expression):
    """One hint of `/*+ ... */`: `this` is its name in upper case.

    `expressions` are `HintOption` for `'k'='v'` and `exp.Literal` (strings) for plain names and
    values.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": False}


class HintOption(exp.Expression):
    """`'key' = 'value'` of a hint: `this` and `value` are plain strings."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "value": True}
    _hash_raw_args: ClassVar[bool] = True


# --- pattern recognition -----------------------------------------------------------------------


class MatchRecognize(exp.Expression):
    """`relation MATCH_RECOGNIZE (...)`.

    `this` is the relation, `partition_by` a list, `order` an `exp.Order`, `measures` a list of
    `exp.Alias`, `rows` ONE ROW PER MATCH or ALL ROWS PER MATCH, with what follows it, or None,
    `after` an `AfterMatch` or None, `pattern` a tree of the classes below, `within` an interval or
    None, `subsets` a list of `Subset`, `define` a list of `exp.Alias` (the alias is the pattern
    variable), `alias` a TableAlias.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "partition_by": False,
        "order": False,
        "measures": False,
        "rows": False,
        "after": False,
        "pattern": True,
        "within": False,
        "subsets": False,
        "define": True,
        "alias": False,
    }


class AfterMatch(exp.Expression):
    """AFTER MATCH SKIP: `kind` is PAST LAST ROW, TO NEXT ROW, TO FIRST or TO LAST; for the last
    two, `this` is the variable's Identifier.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": False, "kind": True}


class OverMatch(exp.Expression):
    """`RUNNING LAST(x)` or `FINAL LAST(x)`: `kind` is the word, `this` the call."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True}


class Subset(exp.Expression):
    """`SUBSET u = (a, b)`: `this` and `expressions` are Identifiers."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": True}


class PatternVariable(exp.Expression):
    """A variable of the pattern; `this` is an Identifier."""


class PatternSequence(exp.Expression):
    """`a b c`: one after the other. `()` has no expressions."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": False}


class PatternChoice(exp.Expression):
    """`a | b`"""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class PatternPermute(exp.Expression):
    """`PERMUTE(a, b)`"""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class PatternExclude(exp.Expression):
    """`{- a -}`"""


class PatternAnchor(exp.Expression):
    """`^` or `$`"""


class PatternRepeat(exp.Expression):
    """`a{2,5}?`: `this` from `least` to `most` times (`most` is None if unbounded); `greedy`
    unless a question mark follows. `*`, `+` and `?` are 0 to any, 1 to any, 0 to 1.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "least": True,
        "most": False,
        "greedy": True,
    }


def mark_parentheses(call: exp.Expression) -> None:
    """Record that a call is written `CURRENT_DATE()`. Copies of the node keep it."""
    call.meta[_PARENTHESES] = True


def has_parentheses(call: exp.Expression) -> bool:
    return call.meta_get(_PARENTHESES) is not None


def name_path(node: exp.Expression) -> tuple[exp.Identifier | exp.Star, ...] | None:
    """The parts of a dotted name, first to last, or None for any other node."""
    if isinstance(node, exp.Column):
        parts = [node.args.get(key) for key in ("catalog", "db", "table", "this")]
        return tuple(part for part in parts if part is not None)
    if isinstance(node, exp.Dot):
        before = name_path(node.this)
        return None if before is None else (*before, node.expression)
    return None
