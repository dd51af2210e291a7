"""The crash rig: a real gateway under real load is killed at every failpoint, started again, and judged."""
