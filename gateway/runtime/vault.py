"""Inputs that may not be stored (design §14): kept in memory, by call, until the call ends or the gateway stops."""


class Vault:
    """Texts by name; gone with the process."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def put(self, name: str, text: str) -> None:
        """Keep `text` under `name`."""
        self._texts[name] = text

    def find(self, name: str) -> str | None:
        """The text, if it is still kept."""
        return self._texts.get(name)

    def drop(self, name: str) -> None:
        """Forget it."""
        self._texts.pop(name, None)
