"""Ed25519 signatures over the digest of a package (RFC 8032). Which keys are trusted is the caller's to say."""

import binascii
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from capabilities.package import Signature

_SAID: Final = b"ostiary-app-package/1:"
"""Before the digest, so that no signature made for something else counts here."""

_KEY_BYTES: Final = 32


class KeyRefused(ValueError):
    """A text is not the key it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKey:
    """A public key and what it is called here."""

    name: str
    public: bytes


class Standing(StrEnum):
    """What a signature is worth."""

    UNSIGNED = "unsigned"
    TRUSTED = "trusted"
    UNKNOWN_KEY = "unknown_key"
    """Signed by a key that is not on the list; whether rightly is not known."""
    BAD = "bad"
    """Names a trusted key that did not sign this."""


@dataclass(frozen=True, slots=True)
class SignatureVerdict:
    """The standing, and the name of the trusted key the signature is of, or says it is of."""

    standing: Standing
    key: str | None = None


def sign(digest: str, private_key: bytes, said: bytes = _SAID) -> Signature:
    """Sign the digest of a package, or of what `said` names.

    Args:
        digest: lower-case hex.
        private_key: PEM, without a password: `openssl genpkey -algorithm ed25519`.

    Raises:
        KeyRefused: the key is none.
    """
    key = _private(private_key)
    return Signature(
        key=key_id(key.public_key().public_bytes_raw()), signature=key.sign(said + digest.encode()).hex()
    )


def verdict_on(
    digest: str, signature: Signature | None, trusted: Iterable[TrustedKey], said: bytes = _SAID
) -> SignatureVerdict:
    """Hold a signature against the keys that are trusted; `said` is what it was made for."""
    if signature is None:
        return SignatureVerdict(Standing.UNSIGNED)
    for key in trusted:
        if key_id(key.public) == signature.key:
            return SignatureVerdict(_standing(said + digest.encode(), signature, key.public), key.name)
    return SignatureVerdict(Standing.UNKNOWN_KEY)


def _standing(signed: bytes, signature: Signature, public: bytes) -> Standing:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(bytes.fromhex(signature.signature), signed)
    except (InvalidSignature, ValueError):
        return Standing.BAD
    return Standing.TRUSTED


def key_id(public: bytes) -> str:
    """What a signature calls a key: SHA-256 of its 32 bytes, lower-case hex."""
    return hashlib.sha256(public).hexdigest()


def read_public_key(text: str) -> bytes:
    """The 32 bytes of a public key written as Base64, or as PEM (`openssl pkey -pubout`).

    Raises:
        KeyRefused: it is neither.
    """
    if "-----BEGIN" in text:
        try:
            key = load_pem_public_key(text.encode())
        except (ValueError, UnsupportedAlgorithm):
            raise KeyRefused("no public key in PEM") from None
        if not isinstance(key, Ed25519PublicKey):
            raise KeyRefused("no Ed25519 key")
        return key.public_bytes_raw()
    try:
        raw = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != _KEY_BYTES:
        raise KeyRefused(f"neither PEM nor Base64 of {_KEY_BYTES} bytes")
    return raw


def public_key_of(private_key: bytes) -> str:
    """The Base64 text of the public half of a private key in PEM, for the list of trusted keys.

    Raises:
        KeyRefused: the key is none.
    """
    return b64encode(_private(private_key).public_key().public_bytes_raw()).decode()


def _private(text: bytes) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyRefused("no private key in PEM without a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRefused("no Ed25519 key; `openssl genpkey -algorithm ed25519` makes one")
    return key
