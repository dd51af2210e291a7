"""Fakes of the runtime's ports for tests: a store in memory, a clock that is advanced, names in sequence.

They pass the same contract suites as the real adapters (`tests/contract`).
"""

from gateway.testing.app_files import MemoryAppFiles
from gateway.testing.app_probe import FakeAppProbe
from gateway.testing.clock import FakeClock
from gateway.testing.ids import SequentialIds
from gateway.testing.outbox import MemorySink
from gateway.testing.store import MemoryStore
from gateway.testing.workers import FakeWorkers

__all__ = ["FakeAppProbe", "FakeClock", "FakeWorkers", "MemoryAppFiles", "MemorySink", "MemoryStore", "SequentialIds"]
