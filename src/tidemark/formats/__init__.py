"""Formats without Spark: records as bytes to columns, and back.

A decoder takes a block of records and returns their rows as columns. It has two ways. The quick one
works on whole columns and accepts a record only if it can prove that its result is Flink's; single
values that it is not sure of are read one by one. All other records, which are few in most files,
take the exact way, one by one; it alone knows why a record is refused.
"""
