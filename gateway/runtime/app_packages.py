"""Judging packages: whole, signed as the configuration demands, and claiming nothing that is another app's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from capabilities.manifest import Manifest
from capabilities.package import Package, PackageRefused, package_of, read_package
from capabilities.signatures import Standing, TrustedKey, verdict_on
from gateway.domain.app_catalog import OfferedApp, segment_of
from gateway.domain.configuration import AppTrust
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.offering import parts_of
from surface_host.bundles import judge_bundle

_TOLD: Final = 5
"""Faults named in one message; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A package that may be installed; `key` is the trusted key that signed it, None where none did."""

    package: Package
    key: str | None


def judged_file(data: bytes, trust: AppTrust) -> Judged:
    """The package in a file that may come from anywhere.

    Raises:
        GatewayError: `package_refused`, with the word for why as `reason`.
    """
    try:
        package = read_package(data)
    except PackageRefused as error:
        raise refused("broken", _said(error)) from error
    _check_surfaces(package)
    return Judged(package=package, key=_signer(package, trust))


def judged_folder(entries: Mapping[str, bytes], digest: str, trust: AppTrust) -> Judged:
    """The package `digest` as its installed files are.

    Raises:
        GatewayError: `package_refused`, with the word for why as `reason`.
    """
    try:
        package = package_of(entries)
    except PackageRefused as error:
        raise refused("changed", _said(error)) from error
    if package.digest != digest:
        raise refused("changed", "`manifest.json` is not the one that was installed")
    _check_surfaces(package)
    return Judged(package=package, key=_signer(package, trust))


def _check_surfaces(package: Package) -> None:
    """Take no surface that no frame would show."""
    for surface in package.manifest.surfaces:
        fault = judge_bundle(parts_of(package, surface))
        if fault is not None:
            raise refused("surface", f"surface `{surface.id}`, {fault.part}: {fault.reason}", package.manifest)


def _signer(package: Package, trust: AppTrust) -> str | None:
    keys = [TrustedKey(name=name, public=public) for name, public in trust.trusted_keys.items()]
    verdict = verdict_on(package.digest, package.signature, keys)
    if verdict.standing is Standing.BAD:
        # INVARIANT: whoever names a trusted key and is not its holder is refused, whatever else is allowed.
        raise refused(
            "bad_signature", f"its signature is not one of the trusted key `{verdict.key}`", package.manifest
        )
    if trust.require_signature and verdict.standing is not Standing.TRUSTED:
        how = "not signed" if verdict.standing is Standing.UNSIGNED else "signed by a key that is not trusted"
        raise refused(verdict.standing.value, f"it is {how}, and `apps.require_signature` holds", package.manifest)
    return verdict.key if verdict.standing is Standing.TRUSTED else None


def check_claims(manifest: Manifest, others: Iterable[OfferedApp]) -> None:
    """Let no two apps share the first segment of a capability id.

    Raises:
        GatewayError: `package_refused`, naming the app that has the segment.
    """
    for other in others:
        taken = manifest.segments & set(map(segment_of, other.tools))
        if other.id != manifest.app.id and taken:
            raise refused(
                "claimed",
                f"ids that begin with `{min(taken)}.` belong to the installed app `{other.id}`; "
                "remove that app, or choose another first segment",
                manifest,
            )


def refused(reason: str, message: str, package: Manifest | None = None) -> GatewayError:
    """The refusal of a package; `reason` is a word for the audit trail, `package` what it is, where that is known."""
    facts = {} if package is None else {"app": package.app.id, "digest": package.digest}
    return GatewayError(ErrorCode.PACKAGE_REFUSED, message, reason=reason, **facts)


def _said(error: PackageRefused) -> str:
    told = "; ".join(str(fault) if fault.pointer else fault.reason for fault in error.faults[:_TOLD])
    more = len(error.faults) - _TOLD
    return f"{told}; and {more} more" if more > 0 else told
