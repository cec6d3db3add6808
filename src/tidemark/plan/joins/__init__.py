"""Joins about time, recognized: temporal, interval and window joins, and coGroup."""
