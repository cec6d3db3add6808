-- Nexmark q13: Join bids with a bounded table at processing time.

CREATE TABLE side_input (key BIGINT, `value` VARCHAR) WITH (
  'connector' = 'filesystem', 'path' = 'examples/nexmark/side_input.csv', 'format' = 'csv');
CREATE TABLE sink (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), `value` VARCHAR
) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.`value`
FROM (SELECT *, PROCTIME() AS p_time FROM bid) B
JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S ON MOD(B.auction, 10000) = S.key;
