"""The contract of `dialect.nodes`: what the planner finds in the trees."""

from __future__ import annotations

import pytest
from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes as n
from tidemark.dialect import parse_expression, parse_query, parse_script, to_sql


def args_of(text: str) -> list[str]:
    call = parse_expression(text)
    assert type(call) is exp.Anonymous
    return [call.this, *(to_sql(argument) for argument in call.expressions)]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("Upper(x)", ["Upper", "x"]),
        ("current_timestamp", ["current_timestamp"]),
        ("LOCALTIME", ["LOCALTIME"]),
        ("COUNT(*)", ["COUNT", "*"]),
        ("EXTRACT(DAY FROM x)", ["EXTRACT", "DAY", "x"]),
        ("TRIM(x)", ["TRIM", "x"]),
        ("TRIM('a' FROM x)", ["TRIM", "BOTH", "'a'", "x"]),
        ("TRIM(LEADING FROM x)", ["TRIM", "LEADING", "' '", "x"]),
        ("POSITION(a IN b)", ["POSITION", "a", "b"]),
        ("SUBSTRING(x FROM 2)", ["SUBSTRING", "x", "2"]),
        ("SUBSTRING(x, 2, 3)", ["SUBSTRING", "x", "2", "3"]),
        ("OVERLAY(x PLACING y FROM 1 FOR 2)", ["OVERLAY", "x", "y", "1", "2"]),
        ("CEIL(x TO DAY)", ["CEIL", "x", "DAY"]),
        ("TIMESTAMPADD(SECOND, 1, ts)", ["TIMESTAMPADD", "SECOND", "1", "ts"]),
        ("TIMESTAMPADD(sql_tsi_day, 1, ts)", ["TIMESTAMPADD", "DAY", "1", "ts"]),
        ("x IS JSON", ["IS JSON VALUE", "x"]),
        ("x IS JSON ARRAY", ["IS JSON ARRAY", "x"]),
        ("f(a => 1)", ["f", "a => 1"]),
        ("IF(a, b, c)", ["IF", "a", "b", "c"]),
        ("LEFT(a, 1)", ["LEFT", "a", "1"]),
        ("YEAR(ts)", ["YEAR", "ts"]),
    ],
)
def test_calls_are_anonymous_with_normalized_arguments(text, args):
    assert args_of(text) == args


def test_keyword_arguments_are_symbols():
    assert parse_expression("EXTRACT(day FROM x)").expressions[0] == n.Symbol(this="DAY")


def test_a_qualified_call_is_an_anonymous_with_its_qualifier():
    call = parse_expression("cat.db.f(1)")
    assert isinstance(call, n.QualifiedCall) and isinstance(call, exp.Anonymous)
    assert (call.this, [part.name for part in call.args["qualifier"]]) == ("f", ["cat", "db"])


def test_what_follows_a_call_wraps_it_innermost_first():
    over = parse_expression(
        "f(DISTINCT a) RESPECT NULLS WITHIN GROUP (ORDER BY b) FILTER (WHERE c) OVER w"
    )
    kinds = []
    while not isinstance(over, exp.Anonymous):
        kinds.append(type(over))
        over = over.this
    assert kinds == [exp.Window, exp.Filter, exp.WithinGroup, exp.RespectNulls]
    assert over.expressions == [exp.Distinct(expressions=[exp.column("a")])]


def test_a_frame_has_both_its_ends():
    spec = parse_expression("f(a) OVER (ORDER BY b ROWS 2 PRECEDING)").args["spec"]
    assert spec.args["kind"] == "ROWS"
    assert (spec.args["start"].name, spec.args["start_side"]) == ("2", "PRECEDING")
    assert (spec.args["end"], spec.args["end_side"]) == ("CURRENT ROW", None)


@pytest.mark.parametrize(
    ("text", "path"),
    [("a", "a"), ("a.b.c.d", "a b c d"), ("a.b.c.d.e.f", "a b c d e f"), ("a.b.*", "a b *")],
)
def test_dotted_names_have_a_path(text, path):
    found = n.name_path(parse_query(f"select {text}").expressions[0])
    assert found is not None
    assert " ".join(part.name for part in found) == path


def test_fields_of_other_things_are_dots_and_brackets():
    dot = parse_expression("f(x).a[1].b")
    assert isinstance(dot, exp.Dot) and isinstance(dot.this, exp.Bracket)
    assert n.name_path(dot) is None


def test_names_are_compared_by_case_and_not_by_quotes():
    assert parse_expression("`a`.b") == parse_expression("a.b")
    assert parse_expression("a") != parse_expression("A")
    assert parse_expression("COUNT(x)") == parse_expression("count(x)")


def test_a_cast_holds_a_type_that_survives_copies():
    cast = parse_expression("TRY_CAST(a AS ROW<x INT, y ARRAY<STRING NOT NULL>>)")
    assert isinstance(cast, exp.TryCast)
    target = cast.copy().args["to"]
    fields = (t.Field("x", t.Int()), t.Field("y", t.Array(t.VarChar(nullable=False))))
    assert target.data_type == t.Row(fields)
    assert cast == cast.copy() != parse_expression("TRY_CAST(a AS BIGINT)")


def test_an_interval_keeps_its_text_units_and_sign():
    interval = parse_expression("INTERVAL -'1:30' MINUTE(3) TO SECOND(2)")
    assert interval == n.IntervalLiteral(
        this="1:30", first="MINUTE", last="SECOND", precision=3, fraction=2, negative=True
    )


def test_a_literal_with_a_kind():
    literal = parse_expression("TIMESTAMP WITH LOCAL TIME ZONE '2024-01-01 00:00:00'")
    assert literal == n.TypedLiteral(this="2024-01-01 00:00:00", kind="TIMESTAMP_LTZ")


def test_json_calls_carry_their_clauses():
    call = parse_expression("JSON_VALUE(a, 'p' RETURNING INT DEFAULT 3 ON EMPTY NULL ON ERROR)")
    assert isinstance(call, n.JsonCall)
    assert call.args["returning"].data_type == t.Int()
    assert (
        call.args["on_empty"].args["kind"] == "DEFAULT" and call.args["on_empty"].this.name == "3"
    )
    assert call.args["on_error"] == n.JsonBehavior(kind="NULL")


def test_json_object_lists_keys_and_values_in_turn():
    call = parse_expression("JSON_OBJECT('a' VALUE 1, KEY b VALUE 2)")
    assert [to_sql(e) for e in call.expressions] == ["'a'", "1", "b", "2"]


def test_constructors():
    assert isinstance(parse_expression("(a, b)"), n.RowConstructor)
    assert parse_expression("(a, b)") == parse_expression("ROW(a, b)")
    assert isinstance(parse_expression("ARRAY[1]"), n.ArrayConstructor)
    assert isinstance(parse_expression("MAP['a', 1]"), n.MapConstructor)


def test_a_table_function_holds_tables_descriptors_and_named_arguments():
    query = parse_query(
        "select * from tumble(data => table t partition by a, timecol => descriptor(ts), size => interval '1' hour)"
    )
    function = query.args["from_"].this
    assert isinstance(function, n.TableFunction) and function.this == "tumble"
    table, column, size = (argument.expression for argument in function.expressions)
    assert isinstance(table, n.TableArgument) and isinstance(table.this, exp.Table)
    assert [to_sql(key) for key in table.args["partition_by"]] == ["a"]
    assert column == n.Descriptor(expressions=[exp.to_identifier("ts")])
    assert isinstance(size, n.IntervalLiteral)


def test_a_window_function_over_a_query():
    query = parse_query("select * from table(hop((select * from t), descriptor(ts), a, b))")
    table = query.args["from_"].this.expressions[0]
    assert isinstance(table, n.TableArgument) and isinstance(table.this, exp.Subquery)


@pytest.mark.parametrize(
    ("text", "method", "side", "kind"),
    [
        ("a JOIN b ON x", "", "", "INNER"),
        ("a INNER JOIN b ON x", "", "", "INNER"),
        ("a LEFT OUTER JOIN b ON x", "", "LEFT", ""),
        ("a FULL JOIN b USING (x)", "", "FULL", ""),
        ("a CROSS JOIN b", "", "", "CROSS"),
        ("a NATURAL LEFT JOIN b", "NATURAL", "LEFT", ""),
        ("a, b", "", "", "COMMA"),
    ],
)
def test_joins_say_what_they_are(text, method, side, kind):
    (join,) = parse_query(f"select * from {text}").args["joins"]
    assert (join.method, join.side, join.kind) == (method, side, kind)


def test_the_older_comma_join_keeps_its_condition():
    query = parse_query("select * from a, v for system_time as of a.ts as b on a.k = b.k")
    (join,) = query.args["joins"]
    assert join.kind == "COMMA" and join.args["on"] is not None
    assert to_sql(join.this.args["as_of"]) == "a.ts"
    assert join.this.alias == "b"


@pytest.mark.parametrize(
    "relation", ["t", "(select 1)", "lateral table(f(x))", "unnest(x)", "table(f(x))"]
)
def test_every_relation_may_have_a_time_and_an_alias(relation):
    query = parse_query(f"select * from {relation} for system_time as of ts as x")
    found = query.args["from_"].this
    assert to_sql(found.args["as_of"]) == "ts" and found.alias == "x"


def test_lateral_before_unnest_is_not_kept():
    query = parse_query("select * from t left join lateral unnest(t.x) as u (a) on true")
    (join,) = query.args["joins"]
    assert to_sql(join) == "LEFT JOIN UNNEST(t.x) AS u (a) ON TRUE"


def test_hints_of_tables_and_selects():
    query = parse_query("select /*+ LOOKUP('table'='t') */ * from t /*+ OPTIONS('a'='b') */ x")
    assert query.args["hints"][0].this == "LOOKUP"
    (hint,) = query.args["from_"].this.args["hints"]
    assert hint.expressions == [n.HintOption(this="a", value="b")]


def test_grouping_elements_stay_in_order():
    group = parse_query("select 1 from t group by (a, b), cube (c), d, ()").args["group"]
    assert [type(e) for e in group.expressions] == [exp.Tuple, exp.Cube, exp.Column, exp.Tuple]


def test_intersect_binds_tighter_than_union_and_modifiers_belong_to_the_whole():
    query = parse_query("select 1 union select 2 intersect all select 3 order by 1 limit 2")
    assert isinstance(query, exp.Union) and query.args["distinct"]
    assert isinstance(query.expression, exp.Intersect) and not query.expression.args["distinct"]
    assert query.args["limit"] is not None and query.expression.args.get("limit") is None


def test_leading_parentheses_distinguish_queries_from_expressions_and_joins():
    assert isinstance(parse_expression("((select 1) + 2)").this, exp.Add)
    assert isinstance(parse_expression("((select 1) union (select 2))"), exp.Subquery)
    joined = parse_query("select * from ((select 1) as a join b on true)").args["from_"].this
    assert isinstance(joined, n.JoinGroup)


def test_a_pattern_is_a_tree():
    query = parse_query(
        "select * from t match_recognize (pattern (A (B | C)+? {- D -} E{2,}) define A as true)"
    )
    a, b_or_c, excluded, e = query.args["from_"].this.args["pattern"].expressions
    assert isinstance(a, n.PatternVariable)
    assert isinstance(b_or_c.this, n.PatternChoice)
    assert (b_or_c.args["least"], b_or_c.args["most"], b_or_c.args["greedy"]) == (1, None, False)
    assert isinstance(excluded, n.PatternExclude)
    assert (e.args["least"], e.args["most"]) == (2, None)


@pytest.mark.parametrize("value", ["3s", "10min", "2048m", "36 h", "file:///a/b-1x", "batch"])
def test_the_value_of_set_needs_no_quotes(value):
    [_, statement] = parse_script(f"SELECT 1; SET a.b-c = {value};").statements
    assert statement.option.value == value


@pytest.mark.parametrize("ending", ["QUIT", "quit;", "EXIT ; ;", "QUIT -- done"])
def test_scripts_may_end_like_a_session_of_flinks_client(ending):
    assert len(parse_script(f"SET 'a' = 'b'; SELECT 1; {ending}").statements) == 2
