"""The relational store behind the unit of work."""
