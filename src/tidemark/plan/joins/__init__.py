"""Joins by time: temporal, interval and window joins, and coGroup."""
