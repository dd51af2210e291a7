"""Every suite here runs on each database."""

from tests.support.databases import database

__all__ = ["database"]
