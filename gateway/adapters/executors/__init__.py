"""Executors: who carries out a dispatched call."""
