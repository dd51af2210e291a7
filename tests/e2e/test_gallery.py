"""Documents as a person meets them: every component in a real browser, under the strictest content policy.

The page (`gallery/`) mounts documents without a gateway; what would leave them lands in `window.requests`. Pictures of
all variants are in `build/screenshots/gallery/`; `docs/images/components/` is made of them.
"""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, ConsoleMessage, Locator, Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.asgi import server_of
from gateway.demo.scene import HOST, free_port
from surface_host import asset_root
from tests.e2e.house import serving

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

GALLERY: Final = Path(__file__).parent / "gallery"
ROOT: Final = Path(__file__).parents[2]
PICTURES: Final = ROOT / "build" / "screenshots" / "gallery"
AXE: Final = ROOT / "surface_host" / "node_modules" / "axe-core" / "axe.min.js"
NAMES: Final = sorted(path.stem for path in (GALLERY / "documents").glob("*.json"))
POLICY: Final = (
    "default-src 'none'; script-src 'nonce-of-this-page' 'strict-dynamic'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
KINDS: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript"}


# ---- the page -----------------------------------------------------------------------------------------------------


def site() -> Starlette:
    """The gallery's page, its documents and what we ship."""

    def answer(path: Path) -> Response:
        text = path.read_text().replace("__NONCE__", "of-this-page")
        return Response(text, media_type=KINDS[path.suffix], headers={"Content-Security-Policy": POLICY})

    async def page(_: Request) -> Response:
        return answer(GALLERY / "gallery.html")

    async def asset(request: Request) -> Response:
        return answer(GALLERY / f"gallery.{request.path_params['kind']}")

    async def built(request: Request) -> Response:
        return answer(asset_root() / request.path_params["name"])

    async def names(_: Request) -> Response:
        return JSONResponse([name for name in NAMES if name != "hostile"])

    async def document(request: Request) -> Response:
        return JSONResponse(json.loads((GALLERY / "documents" / f"{request.path_params['name']}.json").read_text()))

    async def nothing(_: Request) -> Response:
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/", page),
            Route("/gallery.{kind}", asset),
            Route("/dist/{name}", built),
            Route("/documents", names),
            Route("/documents/{name}.json", document),
            Route("/favicon.ico", nothing),
            Route("/beacon", nothing),
        ]
    )


@dataclass(eq=False)
class Shown:
    """One gallery in a tab, and all that the browser said about it."""

    page: Page
    complaints: list[str] = field(default_factory=list[str])
    fetched: list[str] = field(default_factory=list[str])

    def note(self, message: ConsoleMessage) -> None:
        """Anything the browser writes down is a complaint: policy, errors, warnings."""
        self.complaints.append(f"{message.type}: {message.text}")

    def document(self, name: str) -> Locator:
        """Where the document called `name` is shown."""
        return self.page.locator(f"#{name} ostiary-document")

    def node(self, name: str, node: str) -> Locator:
        """One node of it."""
        return self.document(name).locator(f'[data-node="{node}"]')

    async def state(self, name: str) -> dict[str, Any]:
        """What the document accepted."""
        return await self.page.evaluate(f"window.views['{name}'].view.state")

    async def requests(self) -> list[dict[str, Any]]:
        """What left the documents."""
        return await self.page.evaluate(
            "window.requests.map(({actionId, requestId, values}) => ({actionId, requestId, values}))"
        )


class Hall:
    """Opens galleries."""

    def __init__(self, browser: Browser, address: str, stack: AsyncExitStack) -> None:
        self._browser, self._address, self._stack = browser, address, stack

    async def opens(self, *names: str, query: str = "", width: int = 900, **options: Any) -> Shown:
        """A tab with these documents, or with all; ready when it returns."""
        context = await self._browser.new_context(viewport={"width": width, "height": 900}, **options)
        self._stack.push_async_callback(context.close)
        shown = Shown(await context.new_page())
        shown.page.on("console", shown.note)
        shown.page.on("pageerror", lambda error: shown.complaints.append(f"uncaught: {error}"))
        shown.page.on("request", lambda request: shown.fetched.append(request.url.removeprefix(self._address)))
        only = f"only={','.join(names)}" if names else ""
        await shown.page.goto(f"{self._address}/?{only}&{query}")
        await shown.page.wait_for_selector("html[data-ready]")
        return shown


@pytest.fixture(scope="module")
async def address(anyio_backend: str) -> AsyncIterator[str]:
    port = free_port(0)
    async with serving(server_of(site(), HOST, port, lambda: None)):
        yield f"http://{HOST}:{port}"


@pytest.fixture
async def hall(chromium: Browser, address: str) -> AsyncIterator[Hall]:
    async with AsyncExitStack() as stack:
        yield Hall(chromium, address, stack)


# ---- how it looks, and to whom ------------------------------------------------------------------------------------


async def judged_by_axe(page: Page) -> list[str]:
    """What axe-core finds wrong, shadow roots included."""
    await page.evaluate(AXE.read_text())
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {' '.join(map(str, spot['target']))}"
        for rule in found["violations"]
        for spot in rule["nodes"]
    ]


VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "light": {"width": 900, "color_scheme": "light"},
    "dark": {"width": 900, "color_scheme": "dark"},
    "narrow-light": {"width": 360, "color_scheme": "light"},
    "narrow-dark": {"width": 360, "color_scheme": "dark"},
    "wide": {"width": 1600, "color_scheme": "light"},
}


@pytest.mark.parametrize("variant", VARIANTS)
async def test_every_component_is_shown_without_a_complaint_and_passes_axe(hall: Hall, variant: str) -> None:
    shown = await hall.opens(reduced_motion="reduce", **VARIANTS[variant])
    page = shown.page
    PICTURES.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=PICTURES / f"{variant}.png", full_page=True, animations="disabled")
    assert await page.evaluate("window.logged") == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await judged_by_axe(page) == []
    assert shown.complaints == []


@pytest.mark.parametrize(("name", "query"), [("chinese", "locale=zh-CN"), ("arabic", "dir=rtl&locale=ar")])
async def test_other_scripts_pass_axe(hall: Hall, name: str, query: str) -> None:
    shown = await hall.opens(name, query=query, width=600)
    PICTURES.mkdir(parents=True, exist_ok=True)
    await shown.page.screenshot(path=PICTURES / f"{name}.png", full_page=True, animations="disabled")
    assert await judged_by_axe(shown.page) == []
    assert shown.complaints == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hostile"])
async def test_each_document_has_its_picture(hall: Hall, name: str) -> None:
    shown = await hall.opens(name, width=600, reduced_motion="reduce")
    folder = PICTURES / "components"
    folder.mkdir(parents=True, exist_ok=True)
    await shown.page.locator(f"#{name} > div").screenshot(path=folder / f"{name}.png", animations="disabled")
    box = await shown.document(name).bounding_box()
    assert box is not None
    assert box["height"] > 20


async def test_axe_looks_into_the_documents(hall: Hall) -> None:
    """Without it, its silence would prove nothing."""
    shown = await hall.opens("select", "chart-bar")
    await shown.document("select").locator("label").evaluate("(label) => label.removeAttribute('for')")
    await (
        shown.document("chart-bar").locator("svg").evaluate("(picture) => picture.removeAttribute('aria-labelledby')")
    )
    found = {line.partition(":")[0] for line in await judged_by_axe(shown.page)}
    assert "select-name" in found


async def test_the_page_may_choose_theme_and_colours(hall: Hall) -> None:
    shown = await hall.opens("button", query="theme=dark", color_scheme="light")
    colour = "(element) => getComputedStyle(element).backgroundColor"
    dark = await shown.document("button").locator(".document").evaluate(colour)
    assert dark == "rgb(22, 24, 29)"
    await shown.page.evaluate("document.body.style.setProperty('--ostiary-accent', 'rgb(0, 90, 60)')")
    assert await shown.node("button", "save").locator(".button").evaluate(colour) == "rgb(0, 90, 60)"


async def test_a_chart_is_drawn_for_its_box_not_for_the_window(hall: Hall) -> None:
    shown = await hall.opens("chart-bar", width=900)
    picture = shown.document("chart-bar").locator("svg[role=img]")
    wide = await picture.get_attribute("viewBox")
    await shown.page.evaluate("document.querySelector('#chart-bar > div').style.width = '300px'")
    await shown.page.wait_for_function(
        "(wide) => window.views['chart-bar'].view.element.shadowRoot.querySelector('svg').getAttribute('viewBox') !== wide",
        arg=wide,
    )
    box = await picture.bounding_box()
    view = ((await picture.get_attribute("viewBox")) or "").split()
    assert box is not None
    # One unit of the drawing is one pixel: letters keep their size.
    assert abs(float(view[2]) - box["width"]) < 1


async def test_the_value_at_the_pointer_is_said(hall: Hall) -> None:
    shown = await hall.opens("chart-line")
    await shown.document("chart-line").locator("circle").nth(6).hover(force=True)
    assert await shown.document("chart-line").locator(".tip").inner_text() == "Jul\n19.8"


# ---- what a document cannot do ------------------------------------------------------------------------------------


async def test_hostile_words_stay_words(hall: Hall) -> None:
    shown = await hall.opens("hostile")
    page, document = shown.page, shown.document("hostile")
    assert (
        '<iframe srcdoc="<script>parent.hit = 1</script>"></iframe>'
        in await shown.node("hostile", "words").inner_text()
    )
    await document.locator("button").first.click()
    assert await document.locator("a, iframe, img, script, style, object, embed, link, base, meta").count() == 0
    assert await document.locator("[href], [src], [srcdoc], [onerror], [onclick], [style*=url]").count() == 0
    assert await page.evaluate("window.hit") is None
    assert {path.partition("?")[0] for path in shown.fetched} == {
        "/",
        "/gallery.css",
        "/gallery.js",
        "/dist/surface-host-documents.mjs",
        "/dist/surface-host-render.mjs",
        "/documents/hostile.json",
    }
    assert shown.complaints == []


async def test_the_policy_of_these_tests_is_in_force(hall: Hall) -> None:
    """Without it, what the other tests find would prove nothing."""
    shown = await hall.opens("text")
    refused = await shown.page.evaluate(
        "(() => { try { document.createElement('p').innerHTML = '<b>'; return false; } catch { return true; } })()"
    )
    assert refused
    await shown.page.evaluate(
        "document.body.append(Object.assign(document.createElement('p'), {id: 'p'})); p.setAttribute('style', 'color: red')"
    )
    assert any("style-src" in complaint for complaint in shown.complaints)


async def test_a_script_of_the_page_cannot_press_what_leaves(hall: Hall) -> None:
    shown = await hall.opens("form", "button")
    await shown.node("form", "name").locator("input").fill("Ms. Ito")
    await shown.page.evaluate(
        """() => {
          const root = window.views.form.view.element.shadowRoot;
          root.querySelector('form').requestSubmit();
          root.querySelector('form').dispatchEvent(new Event('submit', { cancelable: true }));
          root.querySelector('.button').click();
          root.querySelector('.button').dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }));
          window.views.button.view.element.shadowRoot.querySelector('.button').click();
        }"""
    )
    assert await shown.requests() == []
    await shown.document("form").get_by_role("button", name="Book the table").click()
    assert [request["actionId"] for request in await shown.requests()] == ["book"]


# ---- the keyboard -------------------------------------------------------------------------------------------------


async def test_a_form_is_filled_in_and_sent_from_the_keyboard(hall: Hall) -> None:
    shown = await hall.opens("form")
    keyboard = shown.page.keyboard
    await shown.node("form", "name").locator("input").focus()
    await keyboard.press("Enter")
    assert await shown.requests() == []
    assert await shown.node("form", "name").locator(".reason").inner_text() == "Fill this in."
    await keyboard.type("Ms. Ito")
    await shown.node("form", "guests").locator("input").focus()
    await keyboard.press("ControlOrMeta+a")
    await keyboard.type("44")
    assert await shown.node("form", "guests").locator(".reason").inner_text() == "Choose a number from 1 to 12."
    await keyboard.press("Enter")
    assert await shown.requests() == []
    await keyboard.press("Backspace")
    await keyboard.press("Tab")
    await keyboard.press("ArrowDown")
    await keyboard.press("Tab")
    await keyboard.type("A pram")
    await keyboard.press("Tab")
    await keyboard.press("Space")
    await keyboard.press("Tab")
    await keyboard.press("Enter")
    [request] = await shown.requests()
    assert request["actionId"] == "book"
    assert request["values"] == {
        "name": "Ms. Ito",
        "day": "2027-03-12",
        "guests": 4,
        "place": "out",
        "note": "A pram",
        "news": True,
        "answer": "",
    }


async def test_enter_in_a_text_box_sends_once(hall: Hall) -> None:
    shown = await hall.opens("form")
    await shown.node("form", "name").locator("input").focus()
    await shown.page.keyboard.type("Ms. Ito")
    for _ in range(3):
        await shown.page.keyboard.press("Enter")
    assert len(await shown.requests()) == 1


@pytest.mark.parametrize(
    ("direction", "order"), [("ltr", ["Week", "Month", "Day"]), ("rtl", ["Month", "Week", "Day"])]
)
async def test_tabs_follow_the_arrows_of_the_script(hall: Hall, direction: str, order: list[str]) -> None:
    shown = await hall.opens("tabs", query=f"dir={direction}")
    document = shown.document("tabs")
    await document.get_by_role("tab", name="Day").focus()
    met: list[str] = []
    for _ in order:
        await shown.page.keyboard.press("ArrowRight")
        met.append(await document.locator("[role=tab]:focus").inner_text())
    assert met == order
    await shown.page.keyboard.press("End")
    await shown.page.keyboard.press("Tab")
    # The panel itself is a stop, so that one without controls can be scrolled and read.
    assert await document.locator("[role=tabpanel]:focus").count() == 1
    await shown.page.keyboard.press("Tab")
    await shown.page.keyboard.press("End")
    await shown.page.keyboard.type("!")
    assert (await shown.state("tabs"))["goal"] == "Fewer meetings!"


async def test_a_slider_moves_every_figure_that_hangs_on_it(hall: Hall) -> None:
    shown = await hall.opens("loan")
    before = await shown.node("loan", "payment-shown").locator("output").inner_text()
    await shown.node("loan", "years").locator("input").focus()
    for _ in range(4):
        await shown.page.keyboard.press("ArrowRight")
    assert (await shown.state("loan"))["years"] == 10
    assert await shown.node("loan", "payment-shown").locator("output").inner_text() != before
    await shown.node("loan", "rate").locator("input").focus()
    await shown.page.keyboard.press("End")
    assert await shown.node("loan", "dear").is_visible()
    await shown.document("loan").get_by_role("button", name="Start over").click()
    assert await shown.node("loan", "payment-shown").locator("output").inner_text() == before
    assert not await shown.node("loan", "dear").is_visible()


# ---- what stays ---------------------------------------------------------------------------------------------------


async def test_a_person_goes_on_typing_through_a_patch(hall: Hall) -> None:
    shown = await hall.opens("input")
    control = shown.node("input", "title").locator("input")
    await control.focus()
    await shown.page.keyboard.press("End")
    await shown.page.keyboard.type(" at")
    await shown.page.evaluate(
        """() => {
          const { view, source } = window.views.input;
          window.before = view.element.shadowRoot.activeElement;
          const patched = structuredClone(source);
          const [first, ...rest] = patched.root.children;
          patched.root.children = [
            { id: 'new-1', type: 'Text', props: { text: 'Put before' } }, { ...first, props: { ...first.props, label: 'New name' } },
            { id: 'new-2', type: 'Alert', props: { text: 'Put behind', tone: 'info' } }, ...rest.slice(1),
          ];
          view.show(window.judgeValue(patched).document, 'streaming');
        }"""
    )
    await shown.page.keyboard.type(" dusk")
    assert await shown.page.evaluate("window.before === window.views.input.view.element.shadowRoot.activeElement")
    assert await control.input_value() == "Water lilies at dusk"
    assert (await shown.state("input"))["title"] == "Water lilies at dusk"
    assert await shown.document("input").get_by_label("New name").count() == 1
    assert await shown.node("input", "price").count() == 0


async def test_a_part_that_fails_says_so_and_comes_back(hall: Hall) -> None:
    shown = await hall.opens("faults")
    await shown.node("faults", "people").locator("input").fill("0")
    assert "document.division_by_zero" in await shown.node("faults", "each").inner_text()
    assert await shown.document("faults").get_by_text("The rest of the document stays as it is.").is_visible()
    await shown.document("faults").get_by_role("button", name="Back to four").click()
    assert await shown.node("faults", "each").locator("output").inner_text() == "30.00 EUR"
    assert await shown.page.evaluate("window.logged") == [["document.division_by_zero", "each"]]


async def test_what_did_not_get_through_goes_again_as_the_same_request(hall: Hall) -> None:
    shown = await hall.opens("button")
    save = shown.node("button", "save")
    await save.locator(".button").click()
    await save.locator(".button").click(force=True)
    await shown.page.evaluate("window.requests[0].reject(new TypeError('network'))")
    await save.get_by_role("button", name="Try again").click()
    first, second = await shown.requests()
    assert first == second
    await shown.page.evaluate("window.requests[1].resolve({ ok: true })")
    await save.get_by_role("button", name="Save").click()
    assert (await shown.requests())[2]["requestId"] != first["requestId"]
