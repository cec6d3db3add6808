"""CREATE TABLE ... AS writes the rows of its query, with the local engine."""

import json

import tidemark

SOURCE = """
SET 'table.dml-sync' = 'true';
CREATE TABLE src (id INT NOT NULL, name STRING)
WITH ('connector' = 'filesystem', 'path' = '{0}/src.json', 'format' = 'json');
"""


def test_rows_of_the_query_are_in_the_table(tmp_path):
    rows = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    (tmp_path / "src.json").write_text("\n".join(map(json.dumps, rows)))
    files = f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'json')"
    with tidemark.connect(engine="local") as session:
        session.sql(SOURCE.format(tmp_path))
        session.sql(
            f"CREATE TABLE t (extra INT, twice AS id * 2) PARTITIONED BY (name) {files} "
            "AS SELECT id, name FROM src"
        )
        written = session.sql("SELECT * FROM t").rows()
        assert sorted(written, key=lambda row: row["id"]) == [
            {"extra": None, "twice": 2, "id": 1, "name": "a"},
            {"extra": None, "twice": 4, "id": 2, "name": "b"},
        ]
        # As in Flink, the files of the table stay, and so do their rows.
        session.sql(f"CREATE OR REPLACE TABLE t {files} AS SELECT id + 10 AS id FROM src")
        assert sorted(row["id"] for row in session.sql("SELECT * FROM t").rows()) == [1, 2, 11, 12]
