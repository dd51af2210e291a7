"""Fresh names and secrets from the operating system's randomness."""

import base64
import secrets


class RandomIds:
    """`Ids` nobody can guess: names of 130 random bits, secrets of 256."""

    def ref(self) -> str:
        return self.name("call")

    def name(self, prefix: str) -> str:
        # 17 bytes are 28 letters of base32; the last two carry padding and go.
        return f"{prefix}_{base64.b32encode(secrets.token_bytes(17))[:26].decode().lower()}"

    def secret(self) -> str:
        return secrets.token_urlsafe(32)
