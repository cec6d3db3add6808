-- A shop's orders as they come in, priced, the small ones left out. Made-up rows, twenty a second,
-- without an end: Ctrl-C stops, and so does `tidemark run examples/orders.sql --max-rows 100`.

CREATE TABLE orders (
  id         BIGINT,
  customer   INT,
  product    INT,
  quantity   INT,
  cents      INT,
  placed_at  TIMESTAMP(3),
  total AS CAST(quantity * cents / 100.0 AS DECIMAL(10, 2)),
  WATERMARK FOR placed_at AS placed_at - INTERVAL '5' SECOND
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '20',
  'fields.id.min' = '100000',
  'fields.id.max' = '999999',
  'fields.customer.min' = '1',
  'fields.customer.max' = '400',
  'fields.product.min' = '1',
  'fields.product.max' = '4',
  'fields.quantity.min' = '1',
  'fields.quantity.max' = '9',
  'fields.cents.min' = '99',
  'fields.cents.max' = '4999',
  'fields.placed_at.max-past' = '2 s'
);

CREATE VIEW large_orders AS
SELECT
  id,
  CONCAT('C-', LPAD(CAST(customer AS STRING), 4, '0')) AS customer,
  CASE product WHEN 1 THEN 'tea' WHEN 2 THEN 'coffee' WHEN 3 THEN 'cocoa' ELSE 'water' END AS product,
  quantity,
  total,
  placed_at
FROM orders
WHERE quantity * cents > 5000;

SELECT
  id,
  DATE_FORMAT(placed_at, 'HH:mm:ss') AS placed,
  customer,
  product,
  quantity AS n,
  total,
  RPAD('', CAST(total / 20 AS INT), '#') AS bar
FROM large_orders;
