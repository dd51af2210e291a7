"""Outbound edges: what implements the ports of the runtime."""
