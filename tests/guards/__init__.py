"""What is left of the gateway when one of its guards is taken out: every time, a test must notice (`make guards`)."""
