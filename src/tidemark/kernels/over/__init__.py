"""OVER aggregations: each row with aggregates of the rows around it, in an order."""
