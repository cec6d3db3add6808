-- a temporal join
select o.id, r.rate from orders o left join rates for system_time as of o.ts r on o.cur = r.cur
--->
SELECT o.id, r.rate
FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur

-- the alias may stand before the time
select * from orders as o join (select * from v) as r for system_time as of o.ts on o.k = r.k
--->
SELECT *
FROM orders AS o
JOIN (
  SELECT *
  FROM v
) FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k

-- window functions with and without TABLE
select window_start, count(*) from tumble(table t, descriptor(ts), interval '10' minute) group by window_start
--->
SELECT window_start, count(*)
FROM TABLE(tumble(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start

-- named arguments and partitioned tables
select * from table(session(DATA => table t partition by (a, b) order by ts, TIMECOL => descriptor(ts), GAP => interval '5' minute)) as s
--->
SELECT *
FROM TABLE(session(DATA => TABLE t PARTITION BY (a, b) ORDER BY ts, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '5' MINUTE)) AS s

-- lateral, unnest, values, parentheses around joins
select * from t, lateral table(f(t.x)) as r (a, b) cross join unnest(t.arr) with ordinality as u (v, n)
left join (values (1, 2), (3, 4)) as w (c, d) on true join (p natural join q) using (k)
--->
SELECT *
FROM t,
LATERAL TABLE(f(t.x)) AS r (a, b)
CROSS JOIN UNNEST(t.arr) WITH ORDINALITY AS u (v, n)
LEFT JOIN (
  VALUES (1, 2), (3, 4)
) AS w (c, d) ON TRUE
JOIN (p
NATURAL JOIN q) USING (k)

-- grouping
select a, count(*) from t group by a, (b, c), rollup (a, b), grouping sets ((a), b, ()), cube (a) having count(*) > 1
--->
SELECT a, count(*)
FROM t
GROUP BY a, (b, c), ROLLUP (a, b), GROUPING SETS ((a), b, ()), CUBE (a)
HAVING count(*) > 1

-- set operations and modifiers
with x (a) as (select 1), y as (table t) select a from x union all select a from y intersect select a from z
order by a desc nulls last fetch first 3 rows only
--->
WITH x (a) AS (
  SELECT 1
),
y AS (
  SELECT *
  FROM t
)
SELECT a
FROM x
UNION ALL
SELECT a
FROM y
INTERSECT
SELECT a
FROM z
ORDER BY a DESC NULLS LAST
LIMIT 3

-- hints
select /*+ BROADCAST(t), state_ttl('t' = '1d') */ * from t /*+ options('k'='v') */ as x
--->
SELECT /*+ BROADCAST('t'), STATE_TTL('t' = '1d') */ *
FROM t /*+ OPTIONS('k' = 'v') */ AS x

-- patterns
select * from t match_recognize (partition by a order by ts measures last(B.x) as y one row per match
after match skip to next row pattern (A B+? (C | D){2,3}) within interval '1' hour define B as B.x > 1) as m
--->
SELECT *
FROM t MATCH_RECOGNIZE (
  PARTITION BY a
  ORDER BY ts
  MEASURES last(B.x) AS y
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B+? (C | D){2,3}) WITHIN INTERVAL '1' HOUR
  DEFINE B AS B.x > 1
) AS m

-- all rows of a match
select * from t match_recognize (order by ts measures final last(B.x) - running count(A.x) as y, classifier() as c all rows per match omit empty matches pattern (A | {- B -} C) subset U = (A, B) define B as B.x > prev(B.x, 2)) as m
--->
SELECT *
FROM t MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES FINAL last(B.x) - RUNNING count(A.x) AS y, classifier() AS c
  ALL ROWS PER MATCH OMIT EMPTY MATCHES
  PATTERN (A | {- B -} C)
  SUBSET U = (A, B)
  DEFINE B AS B.x > prev(B.x, 2)
) AS m

-- sub-queries in predicates
select a from t where a in (select a from u) and exists (select 1 from u) and a > all (select a from u) and (a, b) in (select a, b from u)
--->
SELECT a
FROM t
WHERE a IN (
  SELECT a
  FROM u
) AND EXISTS (
  SELECT 1
  FROM u
) AND a > ALL (
  SELECT a
  FROM u
) AND ROW(a, b) IN (
  SELECT a, b
  FROM u
)
