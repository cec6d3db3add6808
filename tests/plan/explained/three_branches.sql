CREATE TABLE orders (
  id BIGINT, amount DECIMAL(10, 2), currency STRING, tags ARRAY<STRING>, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'fake', 'format' = 'json', 'bounded' = 'false');
CREATE TABLE refunds (order_id BIGINT, amount INT) WITH ('connector' = 'fake', 'format' = 'csv');
CREATE TABLE report (id BIGINT NOT NULL, what STRING, amount DECIMAL(12, 2)) WITH ('connector' = 'fake');
CREATE VIEW big_ones AS SELECT * FROM orders WHERE amount > 100 AND currency <> 'X"Y<Z>';
INSERT INTO report
SELECT id, UPPER(currency), amount FROM big_ones
UNION ALL
SELECT id, tag, NULL FROM orders CROSS JOIN UNNEST(tags) AS tag
UNION ALL
SELECT order_id, CASE WHEN amount > 5 THEN 'refund' ELSE 'small' END, -amount FROM refunds
