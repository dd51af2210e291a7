"""Words of agents as they may stand beside names of ours."""

import unicodedata


def shown_title(title: str | None) -> str | None:
    """One line, without anything that hides or turns text around; None if nothing is left."""
    if title is None:
        return None
    kept = "".join(c if c.isprintable() and not unicodedata.category(c).startswith("C") else " " for c in title)
    return " ".join(kept.split()) or None
