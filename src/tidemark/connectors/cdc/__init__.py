"""What the connectors have in common that read a table of a database, and then its changes."""
