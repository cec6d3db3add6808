-- Nexmark q4: The average of the winning prices of each category.

CREATE TABLE sink (id BIGINT, final BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT Q.category, AVG(Q.final)
FROM (
  SELECT MAX(B.price) AS final, A.category
  FROM auction A, bid B
  WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
  GROUP BY A.id, A.category
) Q
GROUP BY Q.category;
