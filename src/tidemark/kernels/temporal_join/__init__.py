"""The temporal join: each left row with the version of its time."""
