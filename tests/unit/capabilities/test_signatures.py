"""Whose word a package carries, and what it is worth here."""

from base64 import b64encode
from dataclasses import replace
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from capabilities.package import Signature, read_package, write_package
from capabilities.signatures import (
    KeyRefused,
    SignatureVerdict,
    Standing,
    TrustedKey,
    key_id,
    public_key_of,
    read_public_key,
    sign,
    verdict_on,
)
from tests.support.mini_apps import a_package, a_surface_package


def pem(seed: int) -> bytes:
    key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def trusted(name: str, seed: int) -> TrustedKey:
    return TrustedKey(name=name, public=read_public_key(public_key_of(pem(seed))))


TEAM: Final = trusted("team", 1)
PARTNER: Final = trusted("partner", 2)
PACKAGE: Final = a_package()
SIGNED: Final = replace(PACKAGE, signature=sign(PACKAGE.digest, pem(1)))


def test_a_signature_by_a_trusted_key_is_named_after_it() -> None:
    again = read_package(write_package(SIGNED))
    assert verdict_on(again.digest, again.signature, [PARTNER, TEAM]) == SignatureVerdict(Standing.TRUSTED, "team")


def test_a_key_that_is_not_on_the_list_is_worth_nothing() -> None:
    assert verdict_on(SIGNED.digest, SIGNED.signature, [PARTNER]) == SignatureVerdict(Standing.UNKNOWN_KEY)
    assert verdict_on(SIGNED.digest, SIGNED.signature, []) == SignatureVerdict(Standing.UNKNOWN_KEY)


def test_no_signature_is_none() -> None:
    assert verdict_on(PACKAGE.digest, None, [TEAM]) == SignatureVerdict(Standing.UNSIGNED)


@pytest.mark.parametrize(
    "forged",
    [
        sign(a_surface_package().digest, pem(1)),
        Signature(key=key_id(TEAM.public), signature=sign(PACKAGE.digest, pem(2)).signature),
        Signature(key=key_id(TEAM.public), signature="0" * 128),
    ],
)
def test_a_signature_for_something_else_or_by_somebody_else_is_bad(forged: Signature) -> None:
    assert verdict_on(PACKAGE.digest, forged, [PARTNER, TEAM]) == SignatureVerdict(Standing.BAD, "team")


def test_the_bare_digest_signed_for_another_purpose_does_not_count() -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
    for said in (PACKAGE.digest.encode(), bytes.fromhex(PACKAGE.digest)):
        forged = Signature(key=key_id(TEAM.public), signature=key.sign(said).hex())
        assert verdict_on(PACKAGE.digest, forged, [TEAM]).standing is Standing.BAD


def test_a_list_with_a_key_that_is_none_trusts_nobody_by_it() -> None:
    broken = TrustedKey(name="broken", public=b"\xff" * 32)
    forged = Signature(key=key_id(broken.public), signature="0" * 128)
    assert verdict_on(PACKAGE.digest, forged, [broken]).standing is Standing.BAD


def test_signing_twice_says_the_same() -> None:
    assert sign(PACKAGE.digest, pem(1)) == SIGNED.signature


def test_a_public_key_is_read_as_base64_and_as_pem() -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32).public_key()
    spelled = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert read_public_key(spelled) == read_public_key(public_key_of(pem(1))) == key.public_bytes_raw()


EC: Final = generate_private_key(SECP256R1())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "team",
        b64encode(b"0" * 31).decode(),
        b64encode(b"0" * 33).decode(),
        "ü",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        EC.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
    ],
)
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(KeyRefused):
        read_public_key(text)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        EC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        Ed25519PrivateKey.generate().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password")
        ),
    ],
)
def test_what_is_no_private_key_is_refused(text: bytes) -> None:
    with pytest.raises(KeyRefused):
        sign(PACKAGE.digest, text)
