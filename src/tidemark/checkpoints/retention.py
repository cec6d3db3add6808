"""How long what an earlier micro-batch left stays in a checkpoint."""

# Spark keeps its state of as many micro-batches (`spark.sql.streaming.minBatchesToRetain`).
KEPT_BATCHES = 100
