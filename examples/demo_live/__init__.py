"""`make demo-live`: rates change in PostgreSQL, and orders come by Kafka."""
