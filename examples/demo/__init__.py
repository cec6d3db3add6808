"""`make demo`: orders, rates that change, and the right rate for each order, as a live stream."""
