"""Checkpoints: what is written into a job's folder, and what a job may find there.

Nothing here starts Spark. Spark's own logs lie beside, in the folder `spark` of a job.
"""
