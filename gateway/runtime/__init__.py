"""Use cases and the ports they need; no framework, no I/O of their own."""
