"""Installed mini apps and their versions."""

import pytest

from gateway.domain.mini_apps import AppState, AppVersion
from gateway.runtime.ports import DuplicateKey, Store, Tx
from tests.contract.samples import NOW, a_mini_app, an_app_version

pytestmark = pytest.mark.anyio


async def test_an_app_is_put_found_and_put_again(store: Store) -> None:
    await store.run(lambda tx: tx.mini_apps.put(a_mini_app()))
    assert await store.run(lambda tx: tx.mini_apps.find("org.example.notes")) == a_mini_app()
    assert await store.run(lambda tx: tx.mini_apps.find("org.example.other")) is None
    changed = a_mini_app(state=AppState.ENABLED, digest="other", granted=("a", "b"), changed_at=NOW + 1)
    await store.run(lambda tx: tx.mini_apps.put(changed))
    assert await store.run(lambda tx: list(tx.mini_apps.list())) == [changed]


async def test_apps_are_listed_by_id(store: Store) -> None:
    for name in ("org.example.b", "org.example.a", "org.example.B"):
        await store.run(lambda tx, name=name: tx.mini_apps.put(a_mini_app(name)))
    listed = await store.run(lambda tx: [app.id for app in tx.mini_apps.list()])
    assert listed == ["org.example.B", "org.example.a", "org.example.b"]


async def test_versions_are_kept_in_the_order_they_were_installed(store: Store) -> None:
    later = an_app_version("0.9.0", installed_at=NOW + 1, key="release")

    def work(tx: Tx) -> None:
        tx.mini_apps.put(a_mini_app())
        tx.mini_apps.put(a_mini_app("org.example.other"))
        tx.mini_apps.add_version(later)
        tx.mini_apps.add_version(an_app_version("1.0.0"))
        tx.mini_apps.add_version(an_app_version("1.0.0", app="org.example.other"))

    await store.run(work)
    assert await store.run(lambda tx: list(tx.mini_apps.versions("org.example.notes"))) == [an_app_version(), later]
    assert await store.run(lambda tx: tx.mini_apps.find_version(later.digest)) == later
    assert await store.run(lambda tx: tx.mini_apps.find_version("nothing")) is None
    assert len(await store.run(lambda tx: tx.mini_apps.digests())) == 3
    await store.run(lambda tx: (tx.mini_apps.drop_version(later.digest), tx.mini_apps.drop_version("nothing")))
    assert await store.run(lambda tx: list(tx.mini_apps.versions("org.example.notes"))) == [an_app_version()]


@pytest.mark.parametrize(
    "again",
    [an_app_version("2.0.0", digest=an_app_version().digest), an_app_version("1.0.0", digest="another")],
    ids=["digest", "version"],
)
async def test_neither_a_digest_nor_a_version_of_an_app_comes_twice(store: Store, again: AppVersion) -> None:
    def work(tx: Tx) -> None:
        tx.mini_apps.put(a_mini_app())
        tx.mini_apps.add_version(an_app_version())

    await store.run(work)
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.mini_apps.add_version(again))


async def test_a_removed_app_leaves_no_version(store: Store) -> None:
    def work(tx: Tx) -> None:
        for name in ("org.example.notes", "org.example.other"):
            tx.mini_apps.put(a_mini_app(name))
            tx.mini_apps.add_version(an_app_version(app=name))

    await store.run(work)
    assert await store.run(lambda tx: tx.mini_apps.remove("org.example.notes"))
    assert not await store.run(lambda tx: tx.mini_apps.remove("org.example.notes"))
    assert await store.run(lambda tx: tx.mini_apps.digests()) == {an_app_version(app="org.example.other").digest}
    assert await store.run(lambda tx: [app.id for app in tx.mini_apps.list()]) == ["org.example.other"]
