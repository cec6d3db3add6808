-- Bodies that the seed abbreviates as `...` hold one option here.
CREATE TABLE versioned_rates (
currency STRING,
rate DECIMAL(38, 10),
currency_time TIMESTAMP(3),
WATERMARK FOR currency_time AS currency_time, -- event time (currency_time)
PRIMARY KEY(currency) NOT ENFORCED -- primary key (currency)
) WITH (
'connector' = 'datagen'
);

CREATE TABLE latest_rates ( -- No event time and No primary key
currency STRING,
rate DECIMAL(38, 10),
currency_time TIMESTAMP(3)
) WITH (
'connector' = 'datagen'
);

CREATE TABLE orders (
order_id STRING,
currency STRING,
amount INT,
proctime as PROCTIME(),
order_time TIMESTAMP(3),
WATERMARK FOR order_time AS order_time - INTERVAL '30' SECOND
) WITH (
);

SELECT
o.oder_id,
o.order_time,
o.amount * r.rate AS amount,
r.currency
FROM orders AS o, versioned_rates FOR SYSTEM_TIME AS OF o.order_time r
on o.currency = r.currency;

SELECT
o.oder_id,
o.proctime,
o.amount * r.rate AS amount,
r.currency
FROM orders AS o, latest_rates FOR SYSTEM_TIME AS OF o.proctime r
on o.currency = r.currency;

-- The seed gives two formats with a slash between them; here each has its statement.
CREATE TABLE versioned_rates1 (
currency STRING,
rate DECIMAL(38, 10),
currency_time TIMESTAMP(3),
WATERMARK FOR currency_time AS currency_time, -- event time (currency_time)
PRIMARY KEY(currency) NOT ENFORCED -- primary key (currency)
) WITH (
'format' = 'debezium-json' -- changelog source
);

CREATE TABLE versioned_rates2 (
currency STRING,
rate DECIMAL(38, 10),
currency_time TIMESTAMP(3),
changelog_time TIMESTAMP(3) as SYSTEM_METADATA("db_operation_time"),
WATERMARK FOR changelog_time AS changelog_time, -- event time (changelog_time)
PRIMARY KEY(currency) NOT ENFORCED -- primary key (currency)
) WITH (
'format' = 'canal-json' -- changelog source
);

CREATE TABLE versioned_rates3 (
currency STRING,
rate DECIMAL(38, 10),
currency_time TIMESTAMP(3),
WATERMARK FOR currency_time AS currency_time, -- event time
PRIMARY KEY(currency) NOT ENFORCED -- primary key
) WITH (
'format' = 'json' -- append only source
);

CREATE TABLE rates (
currency STRING,
rate DECIMAL(38, 10),
currency_time TIMESTAMP(3),
WATERMARK FOR currency_time AS currency_time -- event time
) WITH (
'format' = 'json' -- append only source
);

CREATE VIEW versioned_rates4 AS
SELECT currency, rate, currency_time
FROM (
SELECT *,
ROW_NUMBER() OVER (PARTITION BY currency ORDER BY currency_time DESC) AS rowNum
FROM rates )
WHERE rowNum = 1;

CREATE TABLE latest_rates1 ( -- No event time and No primary key
currency STRING,
rate DECIMAL(38, 10)
) WITH (
);

CREATE VIEW latest_rates2 AS -- No event time and No primary key
SELECT currency, rate
FROM rates;

CREATE TABLE latest_rates3 ( -- No primary key
currency STRING,
rate DECIMAL(38, 10),
currency_time TIMESTAMP(3),
WATERMARK FOR currency_time AS currency_time,
) WITH (
);

CREATE TABLE latest_rates4 ( -- No event time
currency STRING,
rate DECIMAL(38, 10),
proctime AS PROCTIME(),
PRIMARY KEY(currency) NOT ENFORCED
) WITH (
);

CREATE VIEW latest_rates5 AS -- No event time and only has a inferred primary key
SELECT currency, rate, proctime
FROM (
SELECT *,
ROW_NUMBER() OVER (PARTITION BY currency ORDER BY proctime DESC)
AS rowNum FROM Rates)
WHERE rowNum = 1;

SELECT
o.oder_id,
o.order_time,
o.amount * r.rate AS amount,
r.currency
FROM
Orders AS o,
LATERAL TABLE(rates(o.order_time))AS r
WHERE o.currency = r.currency;

CREATE VIEW versioned_rates AS
SELECT currency, rate, currency_time
FROM (
SELECT *,
ROW_NUMBER() OVER (PARTITION BY currency ORDER BY currency_time DESC) AS rowNum
FROM rates)
WHERE rowNum = 1;
