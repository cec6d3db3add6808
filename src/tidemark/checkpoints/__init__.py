"""Checkpoints: what is written to a job's folder, and what a job may find there.

Nothing here starts Spark. Spark's own logs are in the subfolder `spark` of a job's folder.
"""
