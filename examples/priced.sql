CREATE TABLE orders (
  id       INT,
  item     STRING,
  quantity INT,
  cents    INT,
  placed   TIMESTAMP(3),
  total AS CAST(quantity * cents / 100.0 AS DECIMAL(10, 2)),
  WATERMARK FOR placed AS placed - INTERVAL '5' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/orders.json',
  'format' = 'json'
);

SELECT id, COALESCE(UPPER(item), '?') AS item, total, DATE_FORMAT(placed, 'HH:mm:ss') AS at_time
FROM orders
WHERE total > 4;
