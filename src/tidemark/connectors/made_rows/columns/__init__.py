"""The values of made rows as columns; workers make them."""
