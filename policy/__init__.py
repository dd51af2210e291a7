"""Pure decisions: who may see and do what, and why. Knows nothing of storage, wires or clocks."""
