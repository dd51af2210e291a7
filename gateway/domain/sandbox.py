"""Where the sandbox is: the addresses of the outer frame and of bundles, as paths of this gateway. Pure.

A site lets one prefix be framed (`frame-src`), so everything a frame is made of is below it.
"""

from typing import Final

PREFIX: Final = "/sandbox/v1/"
"""The number is that of what host and outer frame say to each other."""


def frame_address(site: str) -> str:
    """The outer frame for pages of `site`; only that site's origins may show it."""
    return f"{PREFIX}frame/{site}"


def bundle_address(digest: str, surface: str) -> str:
    """The parts of one surface of an installed package."""
    return f"{PREFIX}apps/{digest}/{surface}"
