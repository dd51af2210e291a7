"""Capabilities that ship with the gateway; none of them is on unless the configuration enables it."""
