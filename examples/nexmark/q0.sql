-- Nexmark q0: Pass bids through.

CREATE TABLE sink (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra VARCHAR
) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT auction, bidder, price, `dateTime`, extra FROM bid;
