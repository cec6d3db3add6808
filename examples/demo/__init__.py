"""`make demo`: orders, changing rates, and the right rate for each order, as a live stream."""
