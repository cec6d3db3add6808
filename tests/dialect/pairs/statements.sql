-- everything a table can have
create table if not exists c.d.t (id int primary key not enforced, name varchar(10) comment 'n', total as id + 1,
ts timestamp(3) metadata from 'timestamp' virtual, watermark for ts as ts - interval '5' second)
comment 'x' partitioned by (name) with ('connector' = 'kafka', topic = 'it''s')
--->
CREATE TABLE IF NOT EXISTS c.d.t (
  id INT NOT NULL,
  name VARCHAR(10) COMMENT 'n',
  total AS id + 1,
  ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'x' PARTITIONED BY (name) WITH (
  'connector' = 'kafka',
  'topic' = 'it''s'
)

-- buckets
create table t (a int, b int) comment 'x' distributed by hash (a, b) into 4 buckets partitioned by (b);
create table t (a int) distributed by range(a);
create table t (a int) distributed into 1 buckets;
alter table t add distribution by (a);
alter table t modify distribution by hash(a) into 2 buckets;
alter table t drop distribution
--->
CREATE TABLE t (
  a INT,
  b INT
) COMMENT 'x' DISTRIBUTED BY HASH(a, b) INTO 4 BUCKETS PARTITIONED BY (b);

CREATE TABLE t (
  a INT
) DISTRIBUTED BY RANGE(a);

CREATE TABLE t (
  a INT
) DISTRIBUTED INTO 1 BUCKETS;

ALTER TABLE t ADD DISTRIBUTION BY (a);

ALTER TABLE t MODIFY DISTRIBUTION BY HASH(a) INTO 2 BUCKETS;

ALTER TABLE t DROP DISTRIBUTION

-- older spellings
create table t (a varchar, b timestamp, c timestamp(3) as system_metadata("k"), watermark for b as withOffset(b, 1000),)
with (type = 'kafka', `group.id` = 'x', bootstrap.servers = 'a:1', update-mode = 'append')
--->
CREATE TABLE t (
  a STRING,
  b TIMESTAMP(6),
  c TIMESTAMP(3) METADATA FROM 'k' VIRTUAL,
  WATERMARK FOR b AS withOffset(b, 1000)
) WITH (
  'type' = 'kafka',
  'group.id' = 'x',
  'bootstrap.servers' = 'a:1',
  'update-mode' = 'append'
)

-- LIKE and AS
create temporary table a with ('k' = 'v') like b (including all overwriting options excluding watermarks);
create or replace table a with ('k' = 'v') as select 1
--->
CREATE TEMPORARY TABLE a WITH (
  'k' = 'v'
) LIKE b (INCLUDING ALL OVERWRITING OPTIONS EXCLUDING WATERMARKS);

CREATE OR REPLACE TABLE a WITH (
  'k' = 'v'
) AS
SELECT 1

-- views, functions, databases, catalogs
create or replace temporary view if not exists v (x) comment 'c' as select 1;
create temporary system function f as 'm.f' language python;
create database if not exists d comment 'c' with ('a' = 'b');
create catalog c with ('type' = 'generic_in_memory');
drop temporary view if exists v; drop database d cascade
--->
CREATE OR REPLACE TEMPORARY VIEW IF NOT EXISTS v (x) COMMENT 'c' AS
SELECT 1;

CREATE TEMPORARY SYSTEM FUNCTION f AS 'm.f' LANGUAGE PYTHON;

CREATE DATABASE IF NOT EXISTS d COMMENT 'c' WITH (
  'a' = 'b'
);

CREATE CATALOG c WITH (
  'type' = 'generic_in_memory'
);

DROP TEMPORARY VIEW IF EXISTS v;

DROP DATABASE d CASCADE

-- ALTER
alter table t rename to u; alter table t rename a to b; alter table t set ('k'='v'); alter table t reset ('k');
alter table t add (a int first, b as a + 1 after a, watermark for c as c, primary key (a) not enforced);
alter table t modify a bigint; alter table t drop (a, b); alter table t drop watermark; alter table t drop primary key;
alter view v as select 2
--->
ALTER TABLE t RENAME TO u;

ALTER TABLE t RENAME a TO b;

ALTER TABLE t SET (
  'k' = 'v'
);

ALTER TABLE t RESET ('k');

ALTER TABLE t ADD (
  a INT FIRST,
  b AS a + 1 AFTER a,
  WATERMARK FOR c AS c,
  PRIMARY KEY (a) NOT ENFORCED
);

ALTER TABLE t MODIFY (
  a BIGINT
);

ALTER TABLE t DROP (a, b);

ALTER TABLE t DROP WATERMARK;

ALTER TABLE t DROP PRIMARY KEY;

ALTER VIEW v AS
SELECT 2

-- functions of Java
create function f as 'a.B' using jar 'x.jar', jar 'y.jar'
--->
CREATE FUNCTION f AS 'a.B' LANGUAGE JAVA USING JAR 'x.jar', JAR 'y.jar'

-- artifacts are jars
create function f as 'a.B' using artifact 'x.jar', jar 'y.jar'
--->
CREATE FUNCTION f AS 'a.B' LANGUAGE JAVA USING JAR 'x.jar', JAR 'y.jar'

-- ON CONFLICT
insert into t select a from b on conflict do nothing; insert into t select * from a cross join b on conflict do error;
insert into t select * from a join b on conflict = 1 on conflict do deduplicate
--->
INSERT INTO t
SELECT a
FROM b
ON CONFLICT DO NOTHING;

INSERT INTO t
SELECT *
FROM a
CROSS JOIN b
ON CONFLICT DO ERROR;

INSERT INTO t
SELECT *
FROM a
JOIN b ON conflict = 1
ON CONFLICT DO DEDUPLICATE

-- INSERT and statement sets
insert into t /*+ options('a'='b') */ partition (p = 'x', q = 1) (a, b) select 1, 2 emit with delay '1' minute before watermark, without delay after watermark;
begin statement set; insert into a values (1); insert overwrite b (select 2); end;
execute statement set begin insert into a values (1); end
--->
INSERT INTO t /*+ OPTIONS('a' = 'b') */ PARTITION (p = 'x', q = '1') (a, b)
SELECT 1, 2
EMIT WITH DELAY '1' MINUTE BEFORE WATERMARK, WITHOUT DELAY AFTER WATERMARK;

EXECUTE STATEMENT SET
BEGIN
INSERT INTO a
VALUES (1);
INSERT OVERWRITE b
(
  SELECT 2
);
END;

EXECUTE STATEMENT SET
BEGIN
INSERT INTO a
VALUES (1);
END

-- the session
set; set 'a' = 'b'; set table.exec.state.ttl = 1 h; reset; reset 'a'; use catalog c; use c.d;
show tables; show tables from d not like 'a%'; show columns in t; show create view v; show current database;
show user functions; desc t; describe extended t;
explain plan for select 1; explain changelog_mode, plan_advice insert into t select 1;
explain statement set begin insert into t select 1; end
--->
SET;

SET 'a' = 'b';

SET 'table.exec.state.ttl' = '1 h';

RESET;

RESET 'a';

USE CATALOG c;

USE c.d;

SHOW TABLES;

SHOW TABLES FROM d NOT LIKE 'a%';

SHOW COLUMNS FROM t;

SHOW CREATE VIEW v;

SHOW CURRENT DATABASE;

SHOW USER FUNCTIONS;

DESCRIBE t;

DESCRIBE EXTENDED t;

EXPLAIN SELECT 1;

EXPLAIN CHANGELOG_MODE, PLAN_ADVICE INSERT INTO t
SELECT 1;

EXPLAIN EXECUTE STATEMENT SET
BEGIN
INSERT INTO t
SELECT 1;
END

-- plans, partitions, modules and other statements
create table t (b, a) with ('connector' = 'print') as select 1 as a, 2 as b;
create or replace table t (x string, primary key (a) not enforced) as select 1 as a;
replace table t as select 1 as a; explain create table t as select 1 as a;
compile plan 'p.json' if not exists for insert into t select 1;
compile and execute plan 'p.json' for statement set begin insert into t select 1; end; execute plan 'p.json';
show partitions t partition (dt = 'a', hr = 1); show tables in d not ilike 'a%'; show full modules; show materialized tables;
show jobs; describe job 'x'; show create catalog c; desc catalog extended c; describe function f; describe database d;
use modules core, a; load module core with ('a' = 'b'); unload module core;
analyze table t partition (dt = 'a', hr) compute statistics for columns a, b; analyze table t compute statistics for all columns; add jar '/opt/a.jar'; remove jar '/opt/a.jar';
alter table t add if not exists partition (dt = 'a') partition (dt = 'b'); alter table t drop partition (dt = 'a'), partition (dt = 'b');
alter table t drop constraint k; alter table t comment 'x'; alter catalog c comment 'x'; alter function f as 'm.g' language python
--->
CREATE TABLE t (b, a) WITH (
  'connector' = 'print'
) AS
SELECT 1 AS a, 2 AS b;

CREATE OR REPLACE TABLE t (
  x STRING,
  PRIMARY KEY (a) NOT ENFORCED
) AS
SELECT 1 AS a;

REPLACE TABLE t AS
SELECT 1 AS a;

EXPLAIN CREATE TABLE t AS
SELECT 1 AS a;

COMPILE PLAN 'p.json' IF NOT EXISTS FOR
INSERT INTO t
SELECT 1;

COMPILE AND EXECUTE PLAN 'p.json' FOR
STATEMENT SET
BEGIN
INSERT INTO t
SELECT 1;
END;

EXECUTE PLAN 'p.json';

SHOW PARTITIONS t PARTITION (dt = 'a', hr = '1');

SHOW TABLES FROM d NOT ILIKE 'a%';

SHOW FULL MODULES;

SHOW MATERIALIZED TABLES;

SHOW JOBS;

DESCRIBE JOB 'x';

SHOW CREATE CATALOG c;

DESCRIBE CATALOG EXTENDED c;

DESCRIBE FUNCTION f;

DESCRIBE DATABASE d;

USE MODULES core, a;

LOAD MODULE core;

UNLOAD MODULE core;

ANALYZE TABLE t PARTITION (dt, hr) COMPUTE STATISTICS FOR COLUMNS a, b;

ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS;

ADD JAR '/opt/a.jar';

REMOVE JAR '/opt/a.jar';

ALTER TABLE t ADD IF NOT EXISTS PARTITION (dt = 'a') PARTITION (dt = 'b');

ALTER TABLE t DROP PARTITION (dt = 'a'), PARTITION (dt = 'b');

ALTER TABLE t DROP CONSTRAINT k;

ALTER TABLE t COMMENT 'x';

ALTER CATALOG c COMMENT 'x';

ALTER FUNCTION f AS 'm.g' LANGUAGE PYTHON

-- EXECUTE after EXPLAIN
explain execute select 1; explain estimated_cost execute insert into t select 1
--->
EXPLAIN SELECT 1;

EXPLAIN ESTIMATED_COST INSERT INTO t
SELECT 1
