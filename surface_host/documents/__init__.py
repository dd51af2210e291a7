"""Judges UI documents and what is done with them. Pure: no clock, no I/O (design §12, rules A and H)."""
