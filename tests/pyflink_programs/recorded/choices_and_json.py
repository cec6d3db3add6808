"""Columns that are chosen together, and the JSON functions with their options."""

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expression import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
)
from pyflink.table.expressions import (
    call,
    col,
    concat,
    json_array_agg,
    json_object_agg,
    lit,
    null_of,
    range_,
    with_all_columns,
    with_columns,
    without_columns,
)

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())

people = t_env.from_elements(
    [("ann", "x", 1, 2.5), ("bob", "y", 2, 0.5), ("cid", "x", 3, None)],
    DataTypes.ROW(
        [
            DataTypes.FIELD("name", DataTypes.STRING().not_null()),
            DataTypes.FIELD("team", DataTypes.STRING()),
            DataTypes.FIELD("points", DataTypes.INT()),
            DataTypes.FIELD("share", DataTypes.DOUBLE()),
        ]
    ),
)

people.select(with_columns(range_("name", "points"))).execute().print()
people.select(with_columns(range_(2, 3)), col("name")).execute().print()
people.select(with_columns(col("share"), range_(1, 2))).execute().print()
people.select(with_columns(4, 1)).execute().print()
people.select(without_columns(range_("team", "points"))).execute().print()
people.select(without_columns(col("team"), col("share")), lit(7).alias("seven")).execute().print()
people.select(with_all_columns()).execute().print()
people.select(concat(with_columns(range_(1, 2))).alias("both")).execute().print()
people.select(call("CONCAT_WS", "-", with_columns(range_(1, 2))).alias("both")).execute().print()
teams = people.group_by(with_columns(range_(2, 2)))
teams.select(col("team"), col("points").sum.alias("total")).order_by(col("team")).execute().print()

# JSON made of columns
people.select(json_object_agg(JsonOnNull.NULL, col("name"), col("points"))).execute().print()
people.select(json_object_agg(JsonOnNull.ABSENT, col("name"), col("share"))).execute().print()
people.select(json_array_agg(JsonOnNull.NULL, col("share"))).execute().print()
people.group_by(col("team")).select(
    col("team"), json_array_agg(JsonOnNull.ABSENT, col("share")).alias("shares")
).order_by(col("team")).execute().print()

# and read
one = t_env.from_elements([('{"a": {"b": [1, 2]}, "t": true, "d": 0.5}', "no")], ["j", "bad"])
j, bad = col("j"), col("bad")
on_value, on_query = JsonValueOnEmptyOrError, JsonQueryOnEmptyOrError
one.select(
    j.json_value("$.t").alias("text"),
    j.json_value("$.t", DataTypes.BOOLEAN()).alias("truth"),
    j.json_value("$.d", DataTypes.DOUBLE()).alias("half"),
    j.json_value("$.a.b[1]", DataTypes.INT()).alias("two"),
    j.json_value("$.x").alias("none"),
    j.json_value("lax $.x", DataTypes.STRING(), on_value.DEFAULT, "empty").alias("empty"),
    j.json_value(
        "strict $.x", DataTypes.STRING(), on_value.NULL, None, on_value.DEFAULT, "wrong"
    ).alias("wrong"),
).execute().print()
one.select(
    j.json_query("$.a").alias("object"),
    j.json_query("$.a", JsonQueryWrapper.CONDITIONAL_ARRAY).alias("wrapped"),
    j.json_query("$.a.b", JsonQueryWrapper.UNCONDITIONAL_ARRAY).alias("twice"),
    j.json_query(
        "lax $.x", JsonQueryWrapper.WITHOUT_ARRAY, on_query.EMPTY_OBJECT, on_query.NULL
    ).alias("empty"),
    j.json_query(
        "strict $.x", JsonQueryWrapper.WITHOUT_ARRAY, on_query.NULL, on_query.EMPTY_ARRAY
    ).alias("wrong"),
).execute().print()
one.select(
    j.json_exists("$.a").alias("there"),
    j.json_exists("$.x").alias("missing"),
    j.json_exists("strict $.x", JsonExistsOnError.TRUE).alias("on_error"),
    j.json_exists("strict $.x", JsonExistsOnError.UNKNOWN).alias("unknown"),
    j.is_json().alias("is"),
    bad.is_json().alias("is_not"),
    j.is_json(JsonType.OBJECT).alias("object"),
    j.is_json(JsonType.ARRAY).alias("array"),
    lit("1").is_json(JsonType.SCALAR).alias("scalar"),
    null_of(DataTypes.STRING()).is_json(JsonType.VALUE).alias("null"),
).execute().print()
