"""CREATE TABLE ... LIKE: what is taken over. All answers are those of Flink 2.3."""

import pytest

from tests.plan.marked import edge, refused, schema, workspace
from tidemark.dialect.statements import Name
from tidemark.errors import CatalogError, SqlError

BASE = """CREATE TABLE base (
  a INT, m STRING METADATA FROM 'timestamp', g AS a + 1, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED
) COMMENT 'base' PARTITIONED BY (a) WITH ('connector' = 'fake', 'k' = '1');"""


def like(body: str, choices: str = ""):
    at = workspace(BASE, f"CREATE TABLE n {body} LIKE base {choices}")
    return at.catalogs.relation(Name(("n",)))


def names(table) -> list[str]:
    return [column.name for column in table.columns]


def options(table) -> dict[str, str]:
    return {option.key: option.value for option in table.options}


def test_everything_is_taken_over_by_default():
    table = like("(z INT)")
    assert names(table) == ["a", "m", "g", "ts", "z"]
    assert table.watermark is not None
    assert table.primary_key.columns == ("a",)
    assert table.partitioned_by == ("a",)
    assert options(table) == {"connector": "fake", "k": "1"}
    assert table.comment is None


def test_options_of_the_new_table_win_by_default():
    assert options(like("WITH ('k' = '2')")) == {"connector": "fake", "k": "2"}


def test_every_feature_can_be_left_out():
    assert names(like("(z INT)", "(EXCLUDING GENERATED)")) == ["a", "m", "ts", "z"]
    assert names(like("(z INT)", "(EXCLUDING METADATA)")) == ["a", "g", "ts", "z"]
    assert like("(z INT)", "(EXCLUDING WATERMARKS)").watermark is None
    assert like("(z INT)", "(EXCLUDING CONSTRAINTS)").primary_key is None
    assert like("(z INT)", "(EXCLUDING PARTITIONS)").partitioned_by == ()
    assert options(like("WITH ('k' = '2')", "(EXCLUDING OPTIONS)")) == {"k": "2"}


def test_distribution_is_taken_over_unless_it_is_excluded():
    at = workspace(
        "CREATE TABLE base (a INT) DISTRIBUTED BY (a) WITH ('connector' = 'fake')",
        "CREATE TABLE same LIKE base",
        "CREATE TABLE own DISTRIBUTED INTO 3 BUCKETS LIKE base (EXCLUDING DISTRIBUTION)",
    )
    same, own = (at.catalogs.relation(Name((name,))).distribution for name in ("same", "own"))
    assert (same.columns, same.buckets) == (("a",), None)
    assert (own.columns, own.buckets) == ((), 3)
    refused("CREATE TABLE x «DISTRIBUTED INTO 3 BUCKETS» LIKE base", CatalogError, at=at)


def test_exceptions_to_all_can_be_named():
    table = like("WITH ('connector' = 'print')", "(EXCLUDING ALL INCLUDING GENERATED)")
    assert names(table) == ["a", "g", "ts"]
    assert table.watermark is None
    assert options(table) == {"connector": "print"}


def test_overwritten_columns_keep_their_place():
    table = like("(m STRING METADATA FROM 'offset', z INT)", "(OVERWRITING METADATA)")
    assert names(table) == ["a", "m", "g", "ts", "z"]
    assert table.columns[1].key == "offset"
    assert names(like("(g AS a + 2)", "(OVERWRITING GENERATED)")) == ["a", "m", "g", "ts"]


def test_watermark_can_be_overwritten():
    at = workspace(
        BASE,
        "CREATE TABLE n (WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) LIKE base (OVERWRITING WATERMARKS)",
    )
    assert schema("SELECT ts FROM n", at) == "ts TIMESTAMP(3) *event*"


@pytest.mark.parametrize(
    ("marked", "hint"),
    [
        ("CREATE TABLE n («a STRING») LIKE base", "leave it out"),
        ("CREATE TABLE n («g AS a + 2») LIKE base", "leave it out, or add OVERWRITING GENERATED"),
        (
            "CREATE TABLE n («m STRING METADATA») LIKE base",
            "leave it out, or add OVERWRITING METADATA",
        ),
        (
            "CREATE TABLE n («WATERMARK FOR ts AS ts») LIKE base",
            "add OVERWRITING WATERMARKS or EXCLUDING WATERMARKS",
        ),
        ("CREATE TABLE n («PRIMARY KEY (a) NOT ENFORCED») LIKE base", "add EXCLUDING CONSTRAINTS"),
        ("CREATE TABLE n WITH («'k' = '2'») LIKE base (INCLUDING ALL)", "add OVERWRITING OPTIONS"),
        ("CREATE TABLE n LIKE «v»", None),
        ("CREATE TABLE n LIKE «bass»", "did you mean `base`?"),
    ],
)
def test_what_is_there_twice_is_refused(marked, hint):
    at = workspace(BASE, "CREATE VIEW v AS SELECT 1 AS x")
    assert refused(marked, CatalogError, at=at).hint == hint


def test_base_and_new_table_cannot_both_be_partitioned():
    with pytest.raises(CatalogError, match="already partitioned") as caught:
        like("(z INT) PARTITIONED BY (z)")
    assert caught.value.hint == "add EXCLUDING PARTITIONS"


@pytest.mark.parametrize(
    "choices",
    [
        "OVERWRITING ALL",
        "OVERWRITING CONSTRAINTS",
        "OVERWRITING PARTITIONS",
        "INCLUDING OPTIONS EXCLUDING OPTIONS",
    ],
)
def test_choices_that_do_not_exist_are_refused(choices):
    refused(f"CREATE TABLE n LIKE «base» ({choices})", CatalogError, at=workspace(BASE))


def test_key_of_a_column_left_out_is_refused():
    at = workspace("CREATE TABLE b (ts AS TO_TIMESTAMP(s), s STRING, WATERMARK FOR ts AS ts)")
    with pytest.raises(SqlError, match="watermark column `ts` does not exist"):
        at.plan_script("CREATE TABLE n LIKE b (EXCLUDING GENERATED)")


def test_errors_in_a_table_like_one_from_another_script_point_to_its_own_definition():
    at = workspace(BASE, "CREATE TABLE n (z INT) WITH ('readable' = 'false') LIKE base")
    with pytest.raises(SqlError) as caught:
        edge("SELECT z FROM n", at)
    assert caught.value.source.name == "definition of n"
