"""What installed apps offer, by the indexes the rest asks by."""

from capabilities.contract import Descriptor
from gateway.domain.app_catalog import AppTool, Catalog, OfferedApp

READ = Descriptor(id="notes.read", input_schema={"type": "object"})
SHOW = Descriptor(id="notes.show", input_schema={"type": "object"})


def an_app(*, is_enabled: bool) -> OfferedApp:
    tools = [AppTool(app="a.b", descriptor=READ), AppTool(app="a.b", descriptor=SHOW, is_on_page=True)]
    return OfferedApp(
        id="a.b",
        name="Notes",
        version="1.0.0",
        digest="d",
        is_enabled=is_enabled,
        tools={tool.descriptor.id: tool for tool in tools},
    )


def test_an_enabled_app_offers_its_tools_where_they_run() -> None:
    catalog = Catalog.of([an_app(is_enabled=True)])
    assert (set(catalog.without_page), set(catalog.on_pages)) == ({"notes.read"}, {"notes.show"})


def test_a_disabled_app_offers_nothing_and_keeps_its_ids() -> None:
    catalog = Catalog.of([an_app(is_enabled=False)])
    assert (catalog.without_page, catalog.on_pages) == ({}, {})
    assert catalog.is_reserved("notes.anything")
    app = catalog.app_of("notes.read")
    assert app is not None
    assert app.id == "a.b"


def test_what_no_app_declares_is_nobodys() -> None:
    catalog = Catalog.of([an_app(is_enabled=True)])
    assert catalog.app_of("notes.other") is None
    assert not catalog.is_reserved("note.read")
