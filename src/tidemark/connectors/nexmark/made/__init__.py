"""The events as columns; workers make them."""
