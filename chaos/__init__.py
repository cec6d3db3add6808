"""Kills whatever a job needs, at random moments, and compares what its sinks have in the end.

`python -m chaos` plays seeds. Each feeds a scenario step by step while processes are killed: the
job with all that belongs to it, its Python workers, its JVM, executors, Kafka, Debezium and
PostgreSQL; now and then its disk is full. In the end each sink must have the rows of a run that
nobody disturbed.
"""
