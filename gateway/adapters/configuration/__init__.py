"""Reads `ostiary.yaml`: text to nodes, nodes to fields, fields to the settled `Configuration`."""
