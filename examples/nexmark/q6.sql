-- Nexmark q6: The average price of a seller's last ten auctions. As it is published, it selects by the
-- number of a row where that is not known yet, and Flink does not run it.

CREATE TABLE sink (seller BIGINT, avg_price BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT Q.seller,
  AVG(Q.price) OVER (
    PARTITION BY Q.seller ORDER BY Q.`dateTime` ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id, seller ORDER BY price DESC) AS rownum
  FROM (
    SELECT A.id, A.seller, B.price, B.`dateTime` FROM auction AS A, bid AS B
    WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires)
) AS Q
WHERE rownum <= 1;
