-- Nexmark q22: The folders in each bid's URL.

CREATE TABLE sink (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, dir1 VARCHAR, dir2 VARCHAR, dir3
  VARCHAR
) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT auction, bidder, price, channel,
  SPLIT_INDEX(url, '/', 3) AS dir1, SPLIT_INDEX(url, '/', 4) AS dir2, SPLIT_INDEX(url, '/', 5) AS dir3
FROM bid;
