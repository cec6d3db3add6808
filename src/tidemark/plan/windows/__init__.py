"""Windows: what makes them, which columns speak of them, and when they tell their results."""
