"""The values of generated rows as columns; workers make them."""
