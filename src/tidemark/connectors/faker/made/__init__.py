"""The values of expressions as columns; workers make them."""
