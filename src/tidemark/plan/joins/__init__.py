"""Joins about time, recognised: temporal, interval and window joins, and coGroup."""
