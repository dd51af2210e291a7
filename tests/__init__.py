"""Tests of the gateway: one folder per kind of test."""
