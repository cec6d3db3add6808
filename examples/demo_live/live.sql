-- Orders come from a topic of Kafka; the rates from a table of PostgreSQL, whose changes Debezium sends.
-- After a crash Debezium may send changes again.
SET 'table.exec.source.cdc-events-duplicate' = 'true';

CREATE TABLE orders (
  id INT, amount INT, currency STRING, placed_at TIMESTAMP_LTZ(3),
  WATERMARK FOR placed_at AS placed_at - INTERVAL '2' SECOND  -- orders may be up to 2 s late
) WITH (
  'connector' = 'kafka', 'topic' = '{orders}', 'properties.bootstrap.servers' = '{kafka}',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601'
);

CREATE TABLE rates (
  currency STRING, rate DECIMAL(10, 4), valid_from TIMESTAMP_LTZ(3),
  WATERMARK FOR valid_from AS valid_from,
  PRIMARY KEY (currency) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = '{rates}', 'properties.bootstrap.servers' = '{kafka}',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'debezium-json', 'debezium-json.timestamp-format.standard' = 'ISO-8601'
);

SELECT o.id, o.placed_at, o.amount, o.currency, r.rate, o.amount * r.rate AS dollars
FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.placed_at AS r ON o.currency = r.currency;
