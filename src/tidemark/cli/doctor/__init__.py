"""`tidemark doctor`: what Tidemark needs, what of it is there, what to do about the rest."""
