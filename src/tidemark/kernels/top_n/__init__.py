"""Top-N: the first rows of each key by some order, as a changelog."""
