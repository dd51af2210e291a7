"""Wire schemas of what this gateway itself speaks."""
