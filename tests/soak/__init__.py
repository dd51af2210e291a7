"""A gateway under a mixed load for minutes: memory stays flat, nothing is stuck, nothing happens twice."""
