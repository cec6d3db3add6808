"""`tidemark sql`: the interactive shell."""
