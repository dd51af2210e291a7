"""A mini app that never ends to load."""

import time

time.sleep(600)
