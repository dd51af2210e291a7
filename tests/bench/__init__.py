"""Benchmarks: ratios against a plain SDK server in the same run, never timed assertions."""
