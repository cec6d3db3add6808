-- The seed's template of a temporal join, with each of its choices taken once.
SELECT a.x, b.y
FROM table1 AS a
LEFT JOIN table2 FOR SYSTEM_TIME AS OF a.rowtime AS b
ON a.k = b.k;

SELECT table1.x
FROM table1
JOIN table2 FOR SYSTEM_TIME AS OF table1.proctime
ON table1.k = table2.k;

CREATE TABLE LeftTable (
  l_id STRING,
  l_imsi STRING,
  l_time TIMESTAMP(3),
  WATERMARK FOR l_time AS l_time - INTERVAL '5' SECOND
) WITH (
  'connector.type' = 'kafka',
  'connector.version' = 'universal',
  'connector.topic' = 'foo',
  'connector.properties.zookeeper.connect' = 'hostA:2181',
  'connector.properties.bootstrap.servers' = 'hostA:6667',
  'connector.properties.group.id' = 'tg1',
  'connector.startup-mode' = 'latest-offset',
  'format.type' = 'csv',
  'format.field-delimiter' = ','
  );

CREATE TABLE RightTable (
  r_id STRING,
  r_location STRING,
  r_time TIMESTAMP(3),
  WATERMARK FOR r_time AS r_time - INTERVAL '2' SECOND
) WITH (
  'connector.type' = 'kafka',
  'connector.version' = 'universal',
  'connector.topic' = 'bar',
  'connector.properties.zookeeper.connect' = 'hostA:2181',
  'connector.properties.bootstrap.servers' = 'hostA:6667',
  'connector.properties.group.id' = 'tg1',
  'connector.startup-mode' = 'latest-offset',
  'format.type' = 'csv',
  'format.field-delimiter' = ','
);

SELECT l_id, l_imsi, r_location
FROM LeftTable
LEFT JOIN RightTable
on l_id = r_id
and r_time >= l_time - INTERVAL '4' SECOND AND r_time <= l_time + INTERVAL '6' SECOND;
