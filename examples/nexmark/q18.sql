-- Nexmark q18: The last bid of each bidder for each auction.

CREATE TABLE sink (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime`
  TIMESTAMP(3), extra VARCHAR
) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT auction, bidder, price, channel, url, `dateTime`, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rank_number FROM bid
)
WHERE rank_number <= 1;
