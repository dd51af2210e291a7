"""Inbound edges: each turns one wire into the same use cases."""
