"""Executors: who carries out a dispatched call. `worker` is the side of it that runs in a process of its own."""
