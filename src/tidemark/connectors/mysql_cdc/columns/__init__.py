"""What workers load to read parts of a table in columns."""
