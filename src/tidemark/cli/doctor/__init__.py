"""`tidemark doctor`: what Tidemark needs, what is installed, and what to do about the rest."""
