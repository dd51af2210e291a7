"""Bundles that agents send: which are taken, what a page gets of them, and what is kept (rules G1 to G6)."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from capabilities.signatures import sign
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.bundles import SAID, BundlePolicy, BundleTerms, manifest_digest
from gateway.domain.calls import CallState
from gateway.domain.configuration import AppTrust
from gateway.domain.errors import GatewayError
from gateway.runtime.workspaces import Failed, Happened
from surface_host.bundles import BUNDLE_BYTES, Parts, integrity_of
from tests.unit.runtime.canvas import APP, BOARD, a_grant, call, done, events, install, surface, with_surfaces
from tests.unit.runtime.focus import Screen, a_screen
from tests.unit.runtime.rig import Rig, configuration, running, site

pytestmark = pytest.mark.anyio

ANY: Final = BundleTerms(policy=BundlePolicy.ANY)
HTML: Final = "<button id=refresh>Refresh</button>"
JS: Final = "LineUpSurface.onState(() => 0)"
INTEGRITY: Final = integrity_of(Parts(html=HTML, js=JS))


def bundle(**changes: Any) -> dict[str, Any]:
    """A good one."""
    return {"id": "com.example.weather", "name": "Weather", "version": "1.0.0", "html": HTML, "js": JS, **changes}


def sending(**changes: Any) -> dict[str, Any]:
    """Good arguments that send one."""
    return {"bundle": bundle(**changes), "instance_id": BOARD, "state": {"city": "Berlin"}}


def terms(general: BundleTerms = ANY, **more: Any) -> dict[str, Any]:
    """Changes of the rig's configuration: on these terms."""
    return {"sites": {"todo": replace(with_surfaces()["sites"]["todo"], bundles=general, **more)}}


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**terms()) as made:
        yield made


async def refusal(rig: Rig, session: AgentSession, **changes: Any) -> tuple[str, str]:
    """Code and message with which a bundle is refused; it leaves no row and its end is in the trail."""
    outcome = await call(rig, session, "surface_open", sending(**changes))
    assert outcome.call.state is CallState.FAILED
    assert outcome.call.code is not None
    assert await surface(rig, session) is None
    assert await rig.records("call.ended", ref=outcome.call.ref, code=outcome.call.code.value)
    return outcome.call.code.wire, str(outcome.call.message)


# -- what a page gets --------------------------------------------------------------------------------------------


async def test_the_page_gets_it_with_whose_it_is_and_nothing_it_could_ask_for(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    arguments = sending(css="p { color: red }", events=["refresh"], integrity=None)
    del arguments["bundle"]["integrity"]
    assert await done(rig, session, "surface_open", arguments) == {"instance_id": BOARD, "replaced": False}
    frame = screen.told("open")[-1]
    assert frame == {
        "type": "app",
        "op": "open",
        "instance": frame["instance"],
        "app": "com.example.weather",
        "version": "1.0.0",
        "title": "Weather",
        "surface": "",
        "sandbox": "/sandbox/v1/frame/todo",
        "bundle": "",
        "integrity": integrity_of(Parts(html=HTML, css="p { color: red }", js=JS)),
        "events": ["refresh"],
        "handlers": False,
        "profile": "strict",
        "state": {"city": "Berlin"},
        "revision": 0,
        "data": {},
        "sent": {"agent": "Alice", "html": HTML, "css": "p { color: red }", "js": JS},
    }
    assert HTML not in await rig.trail()


async def test_a_page_that_comes_back_gets_it_again(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", sending())
    back = Screen(await rig.page(resume=screen.page, reload=True))
    await rig.settle()
    assert back.told("open")[-1]["sent"]["html"] == HTML


async def test_a_name_hides_nothing(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", sending(name="Your\u202ebank\n"))
    assert screen.told("open")[-1]["title"] == "Your bank"


async def test_what_it_sends_comes_to_its_agent_and_close_is_not_its_own(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", sending())
    await screen.open()
    await screen.say(Happened(event="refresh", data={"unit": "c"}))
    with pytest.raises(GatewayError):
        await screen.say(Happened(event="close", data={}))
    assert [event["event"] for event in (await events(rig, session))["events"]] == ["refresh"]


async def test_what_it_declares_is_all_it_may_send(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", sending(events=["refresh"]))
    await screen.open()
    with pytest.raises(GatewayError):
        await screen.say(Happened(event="draw", data={}))
    await screen.say(Happened(event="refresh", data={}))
    assert [event["event"] for event in (await events(rig, session))["events"]] == ["refresh"]


async def test_a_frame_that_went_elsewhere_is_told_to_its_agent(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", sending())
    await screen.open()
    await screen.say(Failed(code="navigated", message=""))
    [event] = (await events(rig, session))["events"]
    assert (event["event"], event["data"]) == ("close", {"reason": "navigated"})


async def test_what_was_sent_is_kept_as_long_as_it_is_shown(rig: Rig) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    await done(rig, session, "surface_open", sending())
    shown = await surface(rig, session)
    assert shown is not None
    assert await rig.store.run(lambda tx: tx.surfaces.parts_of(shown.id)) == Parts(html=HTML, js=JS)
    await rig.services.admin.revoke_session(session.id, by="test")
    await rig.settle()
    assert await rig.store.run(lambda tx: tx.surfaces.parts_of(shown.id)) is None
    assert await surface(rig, session) is None


# -- which are taken ---------------------------------------------------------------------------------------------


async def test_a_surface_is_an_app_s_or_sent_never_both(rig: Rig) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    install(rig)
    for arguments in (
        {**sending(), "app": APP},
        {**sending(), "app": APP, "version": "1.0.0", "surface": "canvas"},
        {"instance_id": BOARD},
        {"instance_id": BOARD, "app": APP},
    ):
        with pytest.raises(GatewayError) as refused:
            await call(rig, session, "surface_open", arguments)
        assert refused.value.code.wire == "arguments_invalid"
    assert await surface(rig, session) is None


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"integrity": "sha256-" + "A" * 43 + "="}, "surface.integrity", "`/bundle/integrity`"),
        ({"html": "<iframe>"}, "surface.element", "`/bundle/html`: `<iframe>` is not for surfaces"),
        ({"html": "<p onclick='1'>"}, "surface.attribute", "`/bundle/html`"),
        ({"html": "<img src=https://example.test>"}, "surface.remote", "`/bundle/html`"),
        ({"css": "p{background:url(http://example.test)}"}, "surface.remote", "`/bundle/css`"),
        ({"js": "'</script>'"}, "surface.ends_early", "`/bundle/js`"),
        ({"html": "x" * (BUNDLE_BYTES - len(JS) + 1)}, "surface.too_large", "`/bundle/html`"),
    ],
)
async def test_what_no_frame_may_hold_gets_none(rig: Rig, changes: dict[str, Any], code: str, message: str) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    told = await refusal(rig, session, **changes)
    assert (told[0], told[1].startswith(message)) == (code, True)
    assert "example.test" not in told[1]
    assert screen.told("open") == []


async def test_160_kib_are_taken(rig: Rig) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    await done(rig, session, "surface_open", sending(html="x" * (BUNDLE_BYTES - len(JS))))


@pytest.mark.parametrize(
    ("general", "own", "code"),
    [
        (BundleTerms(), None, "surface.not_allowed"),
        (BundleTerms(hashes=frozenset({INTEGRITY})), None, None),
        (BundleTerms(policy=BundlePolicy.SIGNED, hashes=frozenset({INTEGRITY})), None, "surface.not_allowed"),
        (BundleTerms(), ANY, None),
        (ANY, BundleTerms(), "surface.not_allowed"),
    ],
)
async def test_a_site_takes_what_its_list_holds_unless_it_says_otherwise_of_an_agent(
    general: BundleTerms, own: BundleTerms | None, code: str | None
) -> None:
    async with running(**terms(general, bundles_from={} if own is None else {"alice": own})) as rig:
        await a_screen(rig)
        session = await a_grant(rig)
        if code is None:
            await done(rig, session, "surface_open", sending())
        else:
            told = await refusal(rig, session)
            assert told[0] == code
            assert INTEGRITY in told[1]


async def test_a_site_that_says_nothing_takes_nothing_that_is_not_listed_or_signed() -> None:
    assert BundleTerms().policy is BundlePolicy.HASH_ALLOWLIST
    assert (site().bundle_terms("alice").profile, site().bundles.hashes) == ("strict", frozenset())


async def test_the_compat_profile_is_the_site_s_to_give() -> None:
    compat = BundleTerms(policy=BundlePolicy.ANY, profile="compat")
    async with running(**terms(bundles_from={"alice": compat})) as rig:
        screen, session = await a_screen(rig), await a_grant(rig)
        await done(rig, session, "surface_open", sending(html="<p onclick='1'>"))
        assert screen.told("open")[-1]["profile"] == "compat"


# -- signatures --------------------------------------------------------------------------------------------------

_KEY: Final = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
_PEM: Final = _KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
_TRUST: Final = AppTrust(trusted_keys={"team": _KEY.public_key().public_bytes_raw()})


def signed(said: bytes = SAID, **changes: Any) -> dict[str, Any]:
    """The signature of a bundle, as it is written in one."""
    made = bundle(**changes)
    parts = Parts(html=made["html"], css=made.get("css", ""), js=made["js"])
    made_by = sign(manifest_digest(made, integrity_of(parts)), _PEM, said)
    return {"key": made_by.key, "signature": made_by.signature}


@pytest.mark.parametrize("policy", [BundlePolicy.HASH_ALLOWLIST, BundlePolicy.SIGNED])
async def test_a_valid_signature_is_taken_where_lists_and_signatures_count(policy: BundlePolicy) -> None:
    async with running(**terms(BundleTerms(policy=policy)), app_trust=_TRUST) as rig:
        await a_screen(rig)
        session = await a_grant(rig)
        await done(rig, session, "surface_open", sending(events=["a"], signature=signed(events=["a"])))


@pytest.mark.parametrize("policy", list(BundlePolicy))
@pytest.mark.parametrize(
    ("changes", "signature"),
    [
        ({}, signed(html="<p>another</p>")),
        ({"name": "Bank"}, signed()),
        ({"version": "2.0.0"}, signed()),
        ({"events": ["a"]}, signed()),
        ({}, signed(b"ostiary-app-package/1:")),
        ({}, {**signed(), "key": "0" * 64}),
    ],
)
async def test_a_signature_over_something_else_is_worth_nothing_anywhere(
    policy: BundlePolicy, changes: dict[str, Any], signature: dict[str, Any]
) -> None:
    async with running(**terms(BundleTerms(policy=policy)), app_trust=_TRUST) as rig:
        await a_screen(rig)
        told = await refusal(rig, await a_grant(rig), **changes, signature=signature)
        assert told[0] == "surface.bad_signature"


# -- names -------------------------------------------------------------------------------------------------------


async def test_a_version_is_one_bundle(rig: Rig) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    await done(rig, session, "surface_open", sending())
    await done(rig, session, "surface_close", {"instance_id": BOARD})
    assert (await refusal(rig, session, html="<p>another</p>"))[0] == "surface.version_taken"
    await done(rig, session, "surface_open", sending(html="<p>another</p>", version="1.0.1"))
    assert (await done(rig, session, "surface_open", sending()))["replaced"] is True


async def test_nothing_sent_is_called_like_an_app_that_is_here(rig: Rig) -> None:
    await a_screen(rig)
    install(rig)
    assert (await refusal(rig, await a_grant(rig), id=APP))[0] == "surface.id_taken"


async def test_code_changes_by_no_patch(rig: Rig) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    await done(rig, session, "surface_open", sending())
    with pytest.raises(GatewayError) as refused:
        await call(rig, session, "surface_patch", {"instance_id": BOARD, "state": {}, "html": "<p>"})
    assert refused.value.code.wire == "arguments_invalid"


# -- what it stands on -------------------------------------------------------------------------------------------


async def test_what_would_not_be_taken_any_more_is_taken_away(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", sending())
    await screen.open()
    rig.services.live.configure(configuration(**terms(BundleTerms())), {})
    await rig.settle()
    assert await surface(rig, session) is None
    [event] = (await events(rig, session))["events"]
    assert event["data"] == {"reason": "not_exposed"}
