"""Which changes of a script a checkpoint accepts, and how it refuses the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidemark.checkpoints.contract import Contract
from tidemark.checkpoints.fit import check, check_readings, misfits
from tidemark.checkpoints.resuming import resumed
from tidemark.errors import JobError
from tidemark.plan.nodes import Filter, Node, Project, walk
from tidemark.storage import Location

from .contracts import TABLES, contract, planned, promise, resumed_from

TEMPORAL = "SELECT a.k, a.v, b.v AS rate FROM a LEFT JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k"
INTERVAL = (
    "SELECT a.v, b.v AS other FROM a JOIN b ON a.k = b.k"
    " AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts"
)
WINDOWS = "SELECT k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end"
GROUPS = "SELECT k, SUM(v) AS s FROM a GROUP BY k"
OUTER = INTERVAL.replace("JOIN", "LEFT JOIN")
REGULAR = "SELECT a.v, b.v AS other FROM a JOIN b ON a.k = b.k"


def words_of_filters(root: Node) -> str:
    return " ".join(each for node in walk(root) for each in node.description.details)


def said(then: Contract, now: Contract) -> list[str]:
    return [misfit.what for misfit in misfits(then, now)]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (TEMPORAL, TEMPORAL.replace("rate FROM", "price FROM")),
        (TEMPORAL, TEMPORAL.replace("a.v,", "a.v * 2 AS twice,")),
        (TEMPORAL, f"{TEMPORAL} WHERE b.v > 3"),
        (TEMPORAL, f"SELECT k + 1 AS following, rate FROM ({TEMPORAL}) WHERE v > 3"),
        (WINDOWS, WINDOWS.replace("AS s", "* 2 AS t")),
        (GROUPS, f"{GROUPS} HAVING SUM(v) > 3"),
        (GROUPS, "SELECT SUM(v) + 1 AS s FROM a GROUP BY k"),
    ],
)
def test_what_is_above_an_operator_may_change(then: str, now: str) -> None:
    before = contract(then)
    _, after = resumed_from(before, now)

    assert said(before, after) == []


FILTERED = f"{REGULAR} WHERE a.w = 'x' AND b.v > 3"


def test_a_join_resumes_with_the_filters_by_which_it_has_kept_rows() -> None:
    before = contract(FILTERED)
    more = "SELECT other AS o FROM (SELECT a.v, a.w, b.v AS other FROM a JOIN b ON a.k = b.k) WHERE w = 'x' AND other > 3 AND v < 9"

    for now in (FILTERED, more, f"{REGULAR} WHERE a.v < 9 AND b.v > 3 AND a.w = 'x'"):
        root, after = resumed_from(before, now)
        assert said(before, after) == []
        assert after.operators == before.operators
        assert words_of_filters(root).count("(v < 9)") == ("v < 9" in now)


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("a.w = 'x' AND a.v < 9", "a.v < 9 AND a.w = 'x'"),
        ("a.w = 'x'", "a.w = 'x' AND b.v > 3 AND a.w = 'x'"),
        ("a.w = 'x' AND a.w = 'x'", "a.w = 'x'"),
    ],
)
def test_filters_may_be_written_in_another_order_and_more_than_once(then: str, now: str) -> None:
    before = contract(f"{REGULAR} WHERE {then}")
    _, after = resumed_from(before, f"{REGULAR} WHERE {now}")

    assert said(before, after) == []


@pytest.mark.parametrize(
    ("then", "added"),
    [
        (f"{REGULAR} WHERE b.v > 3", "a.v > 3"),
        (f"{REGULAR} JOIN b AS c ON c.k = a.k AND c.v <> b.v WHERE b.v > 3", "c.v > 3"),
        (f"SELECT l.k, a.k AS o FROM ({GROUPS}) AS l JOIN a ON l.s = a.v WHERE l.k > 3", "a.k > 3"),
    ],
)
def test_a_filter_may_be_added_that_reads_like_one_of_other_rows(then: str, added: str) -> None:
    before = contract(then)
    _, after = resumed_from(before, f"{then} AND {added}")

    assert said(before, after) == []


def test_a_join_that_has_kept_all_rows_goes_on_doing_so() -> None:
    before = contract(REGULAR.replace("a.v,", "a.v, a.w,"))
    root, after = resumed_from(before, FILTERED)

    assert said(before, after) == []
    assert isinstance(root, Project)
    assert isinstance(root.input, Filter)


def test_a_group_resumes_with_the_filter_of_its_keys() -> None:
    query = "SELECT * FROM (SELECT k, SUM(v) AS s FROM a GROUP BY k) WHERE k > 3"
    before = contract(query)

    assert said(before, resumed_from(before, f"{query} AND k < 9 AND s > 1")[1]) == []
    [found] = misfits(before, resumed_from(before, query.replace("3", "2"))[1])
    assert found.what == (
        "group-aggregate-1 has only kept rows that pass a filter of its query, which differs now"
    )


def test_an_outer_join_of_an_earlier_version_resumes_although_it_is_an_inner_one_now() -> None:
    query = f"{REGULAR.replace('JOIN', 'LEFT JOIN')} WHERE b.v > 3"
    plan = planned(TABLES.replace("{delay}", "").replace("{options}", "") + query)
    assert plan.padding is not None
    before = promise(plan.padding(plan.unpadded).whole[0])
    _, after = resumed_from(before, query)

    assert before.operators[0].meaning["join"] == "left"
    assert contract(query).operators[0].meaning["join"] == "inner"
    assert said(before, after) == []


CHAIN = "SELECT a.v, b.v AS o, c.v AS p FROM a {} JOIN b ON a.k = b.k {} JOIN b AS c ON a.k = c.k"


@pytest.mark.parametrize(
    ("then", "added", "joins"),
    [
        (f"{CHAIN.format('LEFT', 'LEFT')} WHERE b.v > 3", "c.v > 3", ["inner", "left"]),
        (f"{CHAIN.format('LEFT', 'LEFT')} WHERE c.v > 3", "b.v > 3", ["left", "inner"]),
        (f"{CHAIN.format('FULL', 'FULL')} WHERE c.v > 3", "a.v > 3", ["full", "right"]),
        (f"{CHAIN.format('FULL', 'LEFT')} WHERE a.v > 3", "b.v > 3", ["left", "left"]),
        (f"{CHAIN.format('LEFT', 'FULL')} WHERE TRUE", "b.v > 3 AND c.v > 3", ["left", "full"]),
        (
            f"{CHAIN.format('LEFT', 'LEFT')} LEFT JOIN b AS d ON a.k = d.k WHERE d.v > 3",
            "b.v > 3 AND c.v > 3",
            ["left", "left", "inner"],
        ),
    ],
)
def test_a_filter_may_be_added_that_drops_what_some_outer_joins_pad(
    then: str, added: str, joins: list[str]
) -> None:
    before = contract(then)
    _, after = resumed_from(before, f"{then} AND {added}")

    assert [operator.meaning["join"] for operator in before.operators] == joins
    assert said(before, after) == []


def test_a_query_that_earlier_versions_refused_is_compared_as_it_is() -> None:
    tables = TABLES + (
        "CREATE TABLE o (v INT, other INT) WITH ('connector' = 'filesystem', 'format' = 'json',"
        " 'path' = '/nowhere/o');"
    )
    query = f"INSERT INTO o {REGULAR.replace('JOIN', 'LEFT JOIN')} WHERE b.v > {{}}"
    before = contract(query.format(3), tables=tables)
    plan = planned(tables.replace("{delay}", "").replace("{options}", "") + query.format(4))
    _, after = resumed(plan.roots[0], plan, before, promise)

    assert said(before, after) == [
        "regular-join-1 has only kept right rows that pass a filter of its query, which differs now"
    ]


@pytest.mark.parametrize(
    "now", [REGULAR, f"{REGULAR} WHERE a.w = 'y' AND b.v > 3", f"{REGULAR} WHERE b.v > 3"]
)
def test_rows_that_a_filter_has_dropped_cannot_come_back(now: str) -> None:
    before = contract(FILTERED)
    _, after = resumed_from(before, now)
    found = next(iter(misfits(before, after)))

    assert found.what == (
        "regular-join-1 has only kept left rows that pass a filter of its query, which differs now"
    )
    assert (found.then, found.now) == ("(w = 'x')", "nothing")


def test_a_column_may_be_renamed_on_its_way_to_a_key() -> None:
    renamed = "SELECT SUM(v) AS s FROM (SELECT k AS kk, v FROM a) GROUP BY kk"

    assert said(contract("SELECT SUM(v) AS s FROM a GROUP BY k"), contract(renamed)) == []


def test_a_wider_watermark_delay_and_other_options_of_a_table_fit() -> None:
    wider = contract(
        TEMPORAL,
        delay="- INTERVAL '1' MINUTE",
        options=", 'json.ignore-parse-errors' = 'true'",
    )

    assert said(contract(TEMPORAL), wider) == []


def test_late_rows_of_a_temporal_join_may_be_dropped_or_joined_from_now_on() -> None:
    dropping = contract(f"SET 'tidemark.flink-version' = '2.4'; {TEMPORAL}")

    assert said(contract(TEMPORAL), dropping) == said(dropping, contract(TEMPORAL)) == []


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (TEMPORAL, TEMPORAL.replace("a.v, ", "")),
        (TEMPORAL.replace("a.v,", "a.v, a.ts,"), TEMPORAL),
        (TEMPORAL.replace("a.v,", "a.v, b.ts AS since,"), f"{TEMPORAL} WHERE a.v > 1"),
        (INTERVAL, INTERVAL.replace("a.v, ", "")),
        (REGULAR.replace("a.v,", "a.w, a.v,"), REGULAR),
        (REGULAR, f"SELECT SUM(other) FROM ({REGULAR})".replace("SUM(other)", "other")),
    ],
)
def test_columns_that_the_query_no_longer_uses_are_still_kept(then: str, now: str) -> None:
    before = contract(then)

    root, after = resumed_from(before, now)

    assert said(before, after) == []
    assert [operator.rows for operator in after.operators] == [
        operator.rows for operator in before.operators
    ]
    assert root.edge.names == contract_names(now)


def test_columns_that_are_used_but_were_not_kept_are_named() -> None:
    before = contract(TEMPORAL)

    _, after = resumed_from(before, TEMPORAL.replace("a.v,", "a.w,"))

    assert said(before, after) == [
        "temporal-join-1 needs `w` of its left rows, which are not in its state"
    ]


def test_a_column_that_may_have_been_renamed_below_an_operator_is_said_to_belong_above() -> None:
    before = contract(TEMPORAL)
    renamed = TEMPORAL.replace("a.v,", "a.u,").replace(
        "FROM a LEFT", "FROM (SELECT k, v AS u, ts FROM a) AS a LEFT"
    )

    _, after = resumed_from(before, renamed)

    [misfit] = misfits(before, after)
    assert misfit.hint.startswith("if `u` was `v` before, rename it above temporal-join-1 instead.")


def contract_names(query: str) -> tuple[str, ...]:
    script = TABLES.replace("{delay}", "").replace("{options}", "") + query
    return planned(script).roots[0].edge.names


def test_a_table_may_be_renamed_or_move_but_not_both() -> None:
    then = contract(TEMPORAL)
    renamed = TABLES.replace("TABLE a", "TABLE c"), TEMPORAL.replace("FROM a", "FROM c AS a")
    moved = TABLES.replace("/nowhere/a", "/elsewhere")

    assert said(then, contract(renamed[1], tables=renamed[0])) == []
    assert said(then, contract(TEMPORAL, tables=moved)) == []
    both = contract(renamed[1], tables=renamed[0].replace("/nowhere/a", "/elsewhere"))
    assert said(then, both) == ["the job reads different tables, or in a different order"]


@pytest.mark.parametrize(
    ("then", "now", "what"),
    [
        (TEMPORAL, TEMPORAL.replace("LEFT ", ""), "temporal-join-1 differs in join "),
        (TEMPORAL, TEMPORAL.replace("a.k = b.k", "a.v = b.k"), "temporal-join-1 differs in keys "),
        (
            TEMPORAL,
            TEMPORAL.replace("a.v,", "a.v, a.w,"),
            "temporal-join-1 needs `w` of its left rows, which are not in its state",
        ),
        (INTERVAL, INTERVAL.replace("'5'", "'6'"), "interval-join-1 differs in bounds "),
        (OUTER, f"{OUTER} AND a.v < b.v", "interval-join-1 differs in condition "),
        (WINDOWS, WINDOWS.replace("'1' MINUTE", "'2' MINUTE"), "window-aggregate-1 differs in wi"),
        (WINDOWS, WINDOWS.replace("SUM", "MAX"), "window-aggregate-1 differs in functions "),
        (GROUPS, GROUPS.replace("SUM(v)", "SUM(DISTINCT v)"), "group-aggregate-1 differs in func"),
        (GROUPS, "SELECT SUM(v) AS s FROM a GROUP BY v", "group-aggregate-1 differs in keys "),
        (
            "SELECT SUM(v) FROM a GROUP BY k + 1",
            "SELECT SUM(v) FROM a GROUP BY k * 1",
            "group-aggregate-1 differs in keys ",
        ),
        (
            REGULAR.replace("a.k = b.k", "a.k + 1 = b.k"),
            REGULAR.replace("a.k = b.k", "a.k * 1 = b.k"),
            "regular-join-1 differs in keys ",
        ),
        (GROUPS, GROUPS.replace("SUM(v)", "SUM(v + 0)"), "group-aggregate-1 differs in functions "),
        (REGULAR, INTERVAL, "the checkpoint has state for operator regular-join-1"),
        (GROUPS, "SELECT k, v FROM a", "the checkpoint has state for operator group-aggregate-1"),
        ("SELECT k, v FROM a", GROUPS, "the checkpoint has no state for operator group-aggre"),
    ],
)
def test_what_state_was_made_by_may_not_change(then: str, now: str, what: str) -> None:
    assert said(contract(then), contract(now))[0].startswith(what)


def test_sums_of_squares_of_an_earlier_version_do_not_fit() -> None:
    now = contract(GROUPS.replace("SUM", "VAR_POP"))
    [operator] = now.operators
    [function] = operator.meaning["functions"]
    earlier = {key: value for key, value in function.items() if key != "kept as"}
    meaning = {**operator.meaning, "functions": [earlier]}
    then = replace(now, operators=(replace(operator, meaning=meaning),))

    [misfit] = misfits(then, now)

    assert earlier != function
    assert misfit.what == (
        "group-aggregate-1 stores its functions differently than the version that wrote the state"
    )
    assert misfit.hint.startswith("let the version that wrote it finish the job, or ")


def test_state_with_a_ttl_does_not_fit_state_without_one() -> None:
    assert said(contract(GROUPS), contract(GROUPS, ttl_ms=1000)) == [
        "group-aggregate-1 differs in idle keys from the operator that wrote the state"
    ]


def test_a_hint_may_change_how_long_state_is_kept_but_not_whether_it_expires() -> None:
    def hinted(ttl: str) -> Contract:
        return contract(GROUPS.replace("SELECT", f"SELECT /*+ STATE_TTL('a' = '{ttl}') */"))

    assert said(hinted("1 d"), hinted("2 d")) == []
    assert said(hinted("1 d"), contract(GROUPS, ttl_ms=1000)) == []
    assert said(contract(GROUPS), hinted("0")) == []
    assert said(contract(GROUPS), hinted("1 d")) == [
        "group-aggregate-1 differs in idle keys from the operator that wrote the state"
    ]


def test_each_side_of_a_join_is_said_to_expire_or_not() -> None:
    one = REGULAR.replace("SELECT", "SELECT /*+ STATE_TTL('b' = '1 d') */")
    both = REGULAR.replace("SELECT", "SELECT /*+ STATE_TTL('a' = '1 h', 'b' = '1 d') */")

    [kept] = contract(one).operators
    assert kept.meaning["idle keys"] == ["kept", "forgotten"]
    assert said(contract(both), contract(REGULAR, ttl_ms=1000)) == []


def test_windows_of_a_clock_stay_in_their_time_zone() -> None:
    tables = TABLES.replace("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)")
    berlin = contract(WINDOWS, tables=tables, zone="Europe/Berlin")

    [what] = said(contract(WINDOWS, tables=tables), berlin)

    assert what.startswith("window-aggregate-1 differs in time zone ")
    assert said(contract(GROUPS), contract(GROUPS, zone="Europe/Berlin")) == []


def test_the_error_names_the_operator_what_differs_and_what_to_do() -> None:
    with pytest.raises(JobError) as refused:
        check(
            Location.of("/state/job"),
            contract(INTERVAL),
            contract(INTERVAL.replace("'5'", "'6'")),
        )

    assert refused.value.render().splitlines() == [
        "job job cannot resume from its checkpoint: interval-join-1 differs in bounds in "
        "milliseconds from the operator that wrote the state",
        "  checkpoint: /state/job",
        "  then: [-5000, 0]",
        "  now: [-6000, 0]",
        "  hint: restore interval-join-1, or start over with another checkpoint folder",
    ]


def test_tables_have_to_be_read_together_as_they_were() -> None:
    then = replace(
        contract(
            "SELECT a.v, VALUES_.v AS w, c.v AS x FROM a JOIN (VALUES (1, 2)) AS"
            " VALUES_ (k, v) ON a.k = VALUES_.k JOIN a AS c ON a.k = c.k"
        ),
        readings=((0, 1),),
    )

    check_readings(then, ((0, 1),))
    check_readings(contract(REGULAR), ((0, 1),))  # not decided yet
    for now in ((), ((0, 2),)):
        with pytest.raises(JobError) as refused:
            check_readings(then, now)
        assert refused.value.render().splitlines() == [
            "job job cannot resume from its checkpoint: some operators no longer read a table "
            "together",
            "  tables: `default_catalog.default_database.a`",
            "  hint: restore the queries of these operators, or start over with another checkpoint "
            "folder",
        ]


def test_the_hash_is_the_operators_own() -> None:
    def hash_of(query: str) -> str:
        [operator] = contract(query).operators
        return operator.hash

    assert hash_of(TEMPORAL) == hash_of(f"{TEMPORAL} WHERE b.v > 3")
    assert hash_of(TEMPORAL) != hash_of(TEMPORAL.replace("LEFT ", ""))
