"""Binding: parts of a query become typed values once, which a table of rules then classifies."""
