-- Orders and exchange rates, each a stream of files that never ends.

CREATE TABLE orders (
  id INT, amount INT, currency STRING, placed_at TIMESTAMP(3),
  WATERMARK FOR placed_at AS placed_at - INTERVAL '3' SECOND  -- orders may be up to 3 s late
) WITH (
  'connector' = 'filesystem', 'path' = 'orders', 'format' = 'json', 'source.monitor-interval' = '100 ms'
);

CREATE TABLE rates (
  currency STRING, rate DECIMAL(10, 4), valid_from TIMESTAMP(3),
  WATERMARK FOR valid_from AS valid_from,
  PRIMARY KEY (currency) NOT ENFORCED
) WITH (
  'connector' = 'filesystem', 'path' = 'rates', 'format' = 'json', 'source.monitor-interval' = '100 ms'
);

SELECT o.id, o.placed_at, o.amount, o.currency, r.rate, o.amount * r.rate AS dollars
FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.placed_at AS r ON o.currency = r.currency;
