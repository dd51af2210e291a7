"""The runtime as a model: explored to its last state, broken on purpose, and compared with the real one."""
