-- names lose quotes they do not need and keep those they do
select `a`, `order`, `a b`, t.`x``y`, `名`, `2nd`
--->
SELECT a, `order`, `a b`, t.`x``y`, 名, `2nd`

-- NOT stands inside the predicate it negates
select not a in (1, 2), not b is null, c not between 1 and 2, not d like 'x', not e, not f = g
--->
SELECT
  a NOT IN (1, 2),
  b IS NOT NULL,
  c NOT BETWEEN 1 AND 2,
  d NOT LIKE 'x',
  NOT e,
  NOT f = g

-- NOT stays in front where it would otherwise bind to something else
select x + not a in (1), x = not a in (1)
--->
SELECT x + NOT a IN (1), x = a NOT IN (1)

-- unary minus and plus keep their distance, plus before a number goes
select - -a, +b, 1 - -2, -(-3), + +c, - +d, +4
--->
SELECT - -a, +b, 1 - -2, -(-3), + +c, -+d, 4

-- texts in all their spellings
select 'it''s', U&'\0041\+01F600', U&'!0042' uescape '!', _utf8'c', n'd', x'0aF0'
--->
SELECT 'it''s', 'A😀', 'B', 'c', 'd', X'0AF0'

-- intervals
select interval '5' days, interval -'1:30' minute to second, interval '1-2' year(4) to month,
  interval '1.5' second(3, 2), interval 3 hour, interval a day, interval +'2' weeks,
  (a - b) days, (a - b + c - d) day to second, interval (a - b) day, (a + b)
--->
SELECT
  INTERVAL '5' DAY,
  INTERVAL -'1:30' MINUTE TO SECOND,
  INTERVAL '1-2' YEAR(4) TO MONTH,
  INTERVAL '1.5' SECOND(3, 2),
  INTERVAL '3' HOUR,
  (a * INTERVAL '1' DAY),
  INTERVAL '2' WEEK,
  (a - b) DAY,
  (a - b + c - d) DAY TO SECOND,
  ((a - b) * INTERVAL '1' DAY),
  (a + b)

-- typed literals
select date '2024-01-01', time '10:00:00', timestamp '2024-01-01 00:00:00', timestamp with local time zone '2024-01-01 00:00:00'
--->
SELECT
  DATE '2024-01-01',
  TIME '10:00:00',
  TIMESTAMP '2024-01-01 00:00:00',
  TIMESTAMP WITH LOCAL TIME ZONE '2024-01-01 00:00:00'

-- calls with keywords
select extract(day from ts), trim(leading 'x' from s), trim(s), position('a' in s from 2),
  substring(s from 1 for 2), overlay(s placing 'x' from 1 for 2), ceil(ts to day), floor(x),
  timestampdiff(second, a, b)
--->
SELECT
  extract(DAY FROM ts),
  trim(LEADING 'x' FROM s),
  trim(s),
  position('a' IN s FROM 2),
  substring(s, 1, 2),
  overlay(s PLACING 'x' FROM 1 FOR 2),
  ceil(ts TO DAY),
  floor(x),
  timestampdiff(SECOND, a, b)

-- JSON functions keep their clauses
select json_value(s, '$.a' returning int default 1 on empty error on error),
  json_query(s, '$.a' with wrapper null on error), json_exists(s, '$.a' true on error),
  json_object('a' : 1, key 'b' value 2 absent on null), json_array(1, 2 null on null), s is not json array
--->
SELECT
  JSON_VALUE(s, '$.a' RETURNING INT DEFAULT 1 ON EMPTY ERROR ON ERROR),
  JSON_QUERY(s, '$.a' WITH UNCONDITIONAL ARRAY WRAPPER NULL ON ERROR),
  JSON_EXISTS(s, '$.a' TRUE ON ERROR),
  JSON_OBJECT(KEY 'a' VALUE 1, KEY 'b' VALUE 2 ABSENT ON NULL),
  JSON_ARRAY(1, 2 NULL ON NULL),
  s IS NOT JSON ARRAY

-- aggregates and windows
select count(distinct a) filter (where b > 0), first_value(a) ignore nulls over w,
  sum(a) over (partition by b order by ts range interval '1' day preceding),
  array_agg(a order by b desc nulls last)
from t window w as (order by ts)
--->
SELECT
  count(DISTINCT a) FILTER (WHERE b > 0),
  first_value(a) IGNORE NULLS OVER w,
  sum(a) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW),
  array_agg(a) WITHIN GROUP (ORDER BY b DESC NULLS LAST)
FROM t
WINDOW w AS (ORDER BY ts)

-- CASE with several values for one branch
select case x when 1, 2 then 'a' else 'b' end, case when a then 1 end
--->
SELECT CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'a' ELSE 'b' END, CASE WHEN a THEN 1 END
