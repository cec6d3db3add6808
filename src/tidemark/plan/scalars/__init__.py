"""Scalar expressions: from the SQL tree to typed values."""
