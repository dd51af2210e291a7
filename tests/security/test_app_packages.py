"""Whose packages are taken: what is not signed as the configuration demands changes nothing, and is audited."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from capabilities.package import Package, Signature, write_package
from capabilities.signatures import sign
from gateway.domain.configuration import AppTrust
from gateway.domain.errors import ErrorCode
from tests.unit.runtime.centre import APP, Centre, a_version

pytestmark = pytest.mark.anyio

RELEASE: Final = Ed25519PrivateKey.from_private_bytes(b"r" * 32)
STRANGER: Final = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
TRUSTED: Final = {"release": RELEASE.public_key().public_bytes_raw()}
DEMANDED: Final = AppTrust(trusted_keys=TRUSTED, require_signature=True)
OPTIONAL: Final = AppTrust(trusted_keys=TRUSTED)


def signed(package: Package, key: Ed25519PrivateKey) -> Package:
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return replace(package, signature=sign(package.digest, pem))


def forged(package: Package) -> Package:
    """Names the trusted key over a digest it never signed."""
    other = signed(a_version("9.9.9"), RELEASE).signature
    assert other is not None
    return replace(package, signature=Signature(key=other.key, signature=other.signature))


@asynccontextmanager
async def trusting(trust: AppTrust, centre: Centre | None = None) -> AsyncGenerator[Centre]:
    async with (centre or Centre()).open(app_trust=trust) as opened:
        yield opened


@pytest.mark.parametrize(
    ("trust", "package", "reason"),
    [
        (DEMANDED, a_version(), "unsigned"),
        (DEMANDED, signed(a_version(), STRANGER), "unknown_key"),
        (DEMANDED, forged(a_version()), "bad_signature"),
        (OPTIONAL, forged(a_version()), "bad_signature"),
    ],
    ids=["unsigned", "a stranger's", "forged", "forged where none is demanded"],
)
async def test_what_is_not_signed_as_demanded_is_not_installed(
    trust: AppTrust, package: Package, reason: str
) -> None:
    async with trusting(trust) as centre:
        refused = centre.apps.install(centre.lay(package), by="eve")
        assert await centre.refused(refused) is ErrorCode.PACKAGE_REFUSED
        assert await centre.rig.records("app.refused") == [
            {"app": APP, "digest": package.digest[:32], "reason": reason, "by": "eve"}
        ]
        assert (await centre.apps.list(), centre.files.packages) == ([], {})


@pytest.mark.parametrize(
    ("package", "key"),
    [(signed(a_version(), RELEASE), "release"), (signed(a_version(), STRANGER), None), (a_version(), None)],
    ids=["trusted", "a stranger's", "unsigned"],
)
async def test_a_trusted_signature_is_told_by_its_name_and_no_other_is(package: Package, key: str | None) -> None:
    async with trusting(OPTIONAL) as centre:
        await centre.apps.install(centre.lay(package), by="ada")
        (record,) = await centre.rig.records("app.installed")
        assert record.get("signed_by") == key


async def test_an_upgrade_is_held_to_the_same() -> None:
    async with trusting(DEMANDED) as centre:
        first = await centre.install(signed(a_version("1.0.0"), RELEASE))
        refused = centre.apps.upgrade(centre.lay(a_version("1.1.0")), by="eve")
        assert await centre.refused(refused) is ErrorCode.PACKAGE_REFUSED
        assert (await centre.row()).digest == first.digest
        assert [record["reason"] for record in await centre.rig.records("app.refused")] == ["unsigned"]


async def test_a_key_that_is_trusted_no_more_ends_what_it_signed_at_the_next_start() -> None:
    centre = Centre()
    async with trusting(DEMANDED, centre):
        await centre.install(signed(a_version(), RELEASE))
    nobody = AppTrust(trusted_keys={"other": STRANGER.public_key().public_bytes_raw()}, require_signature=True)
    async with trusting(nobody, centre):
        (view,) = await centre.apps.list()
        assert "signed by a key that is not trusted" in str(view.offered.fault)
        assert [record["app"] for record in await centre.rig.records("app.found_broken")] == [APP]
        await centre.apps.disable(APP, by="ada")
        assert await centre.refused(centre.apps.enable(APP, by="ada")) is ErrorCode.PACKAGE_REFUSED


@pytest.mark.parametrize("place", [b"async def echo", b"com.example.notes"], ids=["code", "manifest"])
async def test_one_changed_byte_is_noticed_whatever_the_check_sums_of_the_file_say(place: bytes) -> None:
    package = signed(a_version(), RELEASE)
    entries: dict[str, Any] = {path: data.replace(place, place[:-1] + b"0") for path, data in package.files.items()}
    changed = replace(package, files=entries) if place.startswith(b"async") else package
    data = write_package(changed)
    if changed is package:
        data = data.replace(place, place[:-1] + b"0")
    async with trusting(OPTIONAL) as centre:
        path = centre.lay(package)
        centre.files.sources[path] = data
        assert await centre.refused(centre.apps.install(path, by="eve")) is ErrorCode.PACKAGE_REFUSED
        assert [record["reason"] for record in await centre.rig.records("app.refused")] == ["broken"]
