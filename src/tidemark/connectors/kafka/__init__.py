"""Topics of Kafka as tables: see `connector`."""
