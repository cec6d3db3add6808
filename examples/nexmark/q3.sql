-- Nexmark q3: Who sells in three states, in one category?

CREATE TABLE sink (
  name VARCHAR, city VARCHAR, state VARCHAR, id BIGINT
) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT P.name, P.city, P.state, A.id
FROM auction AS A INNER JOIN person AS P ON A.seller = P.id
WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA');
