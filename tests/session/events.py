"""A table of events for stories: a row is `id who second`; the watermark is one second behind."""

from __future__ import annotations

TABLE = (
    "CREATE TABLE ev (id INT, who STRING, ts TIMESTAMP(3), pt AS PROCTIME(), "
    "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', "
    "'path' = '{folder}/ev', 'format' = 'json'"
)
MONITORED = f"{TABLE}, 'source.monitor-interval' = '1');\n"


def event(text: str) -> dict[str, object]:
    id_, who, second = text.split()
    return {"id": int(id_), "who": who, "ts": f"2024-01-01 00:00:{int(second):02}"}
