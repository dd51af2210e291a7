"""The document in Chromium: from its text to what is on the screen, and one node changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Route

from gateway.demo.browser import browser
from surface_host import asset_root
from tests.bench.ui.document import PATCHED

ADDRESS: Final = "http://bench.localhost"
ROUNDS: Final = 15

_PAGE: Final = """<!doctype html><meta charset="utf-8"><title>bench</title><body>
<script type="module">
import { applyPatch, engine, judge } from '/surface-host-documents.mjs';
import { mountDocument } from '/surface-host-render.mjs';

const painted = () => new Promise((done) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(null);
}));
const text = await (await fetch('/document.json')).text();
const options = { engine, newId: () => crypto.randomUUID(), dispatch: () => new Promise(() => {}), log: () => {} };

window.first = async () => {
  await painted();
  const began = performance.now();
  const { document: source } = judge(text);
  const judged = performance.now();
  const view = mountDocument(document.body, source, options);
  const mounted = performance.now();
  await painted();
  const shown = performance.now();
  view.destroy();
  return { judged: judged - began, mounted: mounted - judged, shown: shown - began };
};

window.patch = async (id, props) => {
  const { document: source } = judge(text);
  const view = mountDocument(document.body, source, options);
  await painted();
  const began = performance.now();
  const { document: changed } = applyPatch(source, [{ op: 'update', id, props }]);
  view.show(changed, 'complete');
  await painted();
  const shown = performance.now() - began;
  view.destroy();
  return shown;
};
document.documentElement.dataset.ready = '';
</script>"""

_KINDS: Final = {".mjs": "text/javascript", ".json": "application/json"}


async def measure(document: bytes, props: Mapping[str, Any]) -> Mapping[str, list[float]]:
    """Milliseconds of each round: `judged`, `mounted`, `shown` (all three together) and `patched`."""

    async def answer(route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS).lstrip("/")
        if name == "":
            await route.fulfill(body=_PAGE, content_type="text/html")
        elif name == "document.json":
            await route.fulfill(body=document, content_type="application/json")
        elif (file := Path(str(asset_root())) / Path(name).name).exists():
            await route.fulfill(body=file.read_bytes(), content_type=_KINDS.get(file.suffix, "text/plain"))
        else:
            await route.fulfill(status=404)

    async with browser() as chromium:
        page = await chromium.new_page(viewport={"width": 1_280, "height": 900})
        await page.route(f"{ADDRESS}/**", answer)
        await page.goto(f"{ADDRESS}/")
        await page.wait_for_selector("html[data-ready]")
        rounds = [await page.evaluate("first()") for _ in range(ROUNDS)]
        changed = [PATCHED, dict(props)]
        patches = [await page.evaluate("([id, props]) => patch(id, props)", changed) for _ in range(ROUNDS)]
    taken = {name: [float(one[name]) for one in rounds] for name in ("judged", "mounted", "shown")}
    return {**taken, "patched": [float(one) for one in patches]}
