"""The same SQL over the same files, by real Flink, Tidemark on Spark, Tidemark alone and Polars."""
