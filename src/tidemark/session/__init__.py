"""The session: scripts in, results and jobs out."""
