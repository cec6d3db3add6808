"""Cases recorded from real Apache Flink, and the tools that record and check them.

Nothing here imports Tidemark, so that the same tools can compare any engine with Flink.
"""
