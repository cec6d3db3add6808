"""Stateful operators as pure functions over columns: frames in, frames and new state out."""
