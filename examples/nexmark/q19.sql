-- Nexmark q19: The ten highest bids for each auction.

CREATE TABLE sink (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, `dateTime`
  TIMESTAMP(3), extra VARCHAR, rank_number BIGINT
) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number FROM bid
)
WHERE rank_number <= 10;
