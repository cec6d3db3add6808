CREATE TABLE orders (
  id INT, currency STRING, amount INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'examples/rates/orders.json', 'format' = 'json');

CREATE TABLE rate_changes (
  currency STRING, rate DECIMAL(10, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'examples/rates/rates.json', 'format' = 'json');

-- Of each currency the newest rate: a versioned table.
CREATE VIEW rates AS
SELECT currency, rate, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY ts DESC) AS newest
  FROM rate_changes
) WHERE newest = 1;

SELECT o.id, o.currency, o.amount * r.rate AS dollars, r.ts AS rate_since
FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency;
