"""Topics of one broker, read and written by Tidemark and by real Flink."""
