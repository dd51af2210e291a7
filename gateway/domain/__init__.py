"""Pure entities, events, transition tables and error codes, one file per noun."""
