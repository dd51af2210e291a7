"""Guards of installing: whose packages are taken, what takes the place of what, and who may use it (design §4, §7)."""

from typing import Final

from tests.guards.guard import Guard

_CENTRE: Final = "tests/unit/runtime/test_mini_apps.py"
_PACKAGES: Final = "tests/security/test_app_packages.py"
_CATALOG: Final = "tests/unit/runtime/test_app_catalog.py"
_FILES: Final = "tests/contract/test_app_files.py"
_USE_CASES: Final = "gateway/runtime/mini_apps.py"
_JUDGES: Final = "gateway/runtime/app_packages.py"

GUARDS: Final = (
    Guard(
        name="forged-signature-is-refused",
        section="§7",
        why="whoever names a trusted key would pass for its holder",
        file=_JUDGES,
        old="    if verdict.standing is Standing.BAD:\n",
        new="    if False:\n",
        tests=(_PACKAGES,),
    ),
    Guard(
        name="unsigned-is-refused-where-a-signature-is-demanded",
        section="§7",
        why="anybody's code would run where only one's own may",
        file=_JUDGES,
        old="if trust.require_signature and verdict.standing is not Standing.TRUSTED:",
        new="if False:",
        tests=(_PACKAGES,),
    ),
    Guard(
        name="strangers-signature-is-no-trusted-one",
        section="§7",
        why="the trail would name a key that signed nothing",
        file=_JUDGES,
        old="return verdict.key if verdict.standing is Standing.TRUSTED else None",
        new='return verdict.key or ("somebody" if package.signature else None)',
        tests=(_PACKAGES,),
    ),
    Guard(
        name="refused-package-is-audited",
        section="§14",
        why="attempts to bring in other code would leave no trace",
        file=_USE_CASES,
        old="            if error.code is ErrorCode.PACKAGE_REFUSED:\n",
        new="            if False:\n",
        tests=(_PACKAGES, _CENTRE),
    ),
    Guard(
        name="installed-files-are-held-against-their-digest",
        section="§7",
        why="what was planted beside a package would run as the package",
        file=_JUDGES,
        old="        package = package_of(entries)\n",
        new=(
            "        from capabilities.manifest import read_manifest\n"
            '        package = Package(manifest=read_manifest(entries["manifest.json"]), files=entries)\n'
        ),
        tests=(_CENTRE,),
    ),
    Guard(
        name="installed-manifest-is-the-one-of-its-digest",
        section="§7",
        why="another package laid into the folder would run under the old one's name",
        file=_JUDGES,
        old="    if package.digest != digest:\n",
        new="    if False:\n",
        tests=(_CENTRE,),
    ),
    Guard(
        name="flawed-app-does-not-run",
        section="§7",
        why="a changed file would be found and run all the same",
        file="gateway/runtime/app_shelf.py",
        old="            self._faults[digest] = error.message\n",
        new=(
            "            from capabilities.manifest import read_manifest\n"
            "            files = self._files.load(digest)\n"
            '            self._known[digest] = Known(manifest=read_manifest(files["manifest.json"]))\n'
            "            self._faults[digest] = error.message\n"
        ),
        tests=(_CENTRE,),
    ),
    Guard(
        name="flawed-app-takes-no-call",
        section="§7",
        why="a person would be asked about work that nobody can do",
        file="gateway/runtime/planning.py",
        old="        if app is not None and app.fault is not None:\n",
        new="        if False:\n",
        tests=(_CENTRE,),
    ),
    Guard(
        name="two-apps-share-no-segment",
        section="§4",
        why="one app could answer what agents and rules mean of another",
        file=_JUDGES,
        old="        if other.id != manifest.app.id and taken:\n",
        new="        if False:\n",
        tests=(_CENTRE,),
    ),
    Guard(
        name="same-version-is-same-content",
        section="§7",
        why="two contents under one version could not be told apart by anybody",
        file="gateway/runtime/app_changes.py",
        old="        if kept.version == manifest.app.version and kept.digest != judged.package.digest:\n",
        new="        if False:\n",
        tests=(_CENTRE,),
    ),
    Guard(
        name="upgrade-goes-forward",
        section="§7",
        why="an old hole would come back as an upgrade",
        file="gateway/runtime/app_changes.py",
        old="        if not is_upgrade(current, _version_of(judged, 0)):\n",
        new="        if False:\n",
        tests=(_CENTRE,),
    ),
    Guard(
        name="enabled-app-is-not-removed",
        section="§7",
        why="agents would lose in mid-work what nobody disabled",
        file="gateway/domain/mini_apps.py",
        old="            _E.DISABLE: _S.DISABLED,\n            _E.UPGRADE: _S.ENABLED,\n",
        new="            _E.DISABLE: _S.DISABLED,\n            _E.REMOVE: _S.ABSENT,\n            _E.UPGRADE: _S.ENABLED,\n",
        tests=("tests/unit/domain/test_mini_apps.py",),
    ),
    Guard(
        name="dropped-permission-is-not-kept",
        section="§7",
        why="a later version would be granted unseen what an earlier one was trusted with",
        file="gateway/runtime/app_changes.py",
        old="granted=set(app.granted) & set(manifest.permissions),",
        new="granted=set(app.granted),",
        tests=(_CENTRE,),
    ),
    Guard(
        name="disabled-app-is-not-offered",
        section="§4",
        why="what was switched off would go on",
        file="gateway/domain/app_catalog.py",
        old="usable = [tool for tool in tools.values() if by_id[tool.app].is_enabled]",
        new="usable = list(tools.values())",
        tests=("tests/unit/domain/test_app_catalog.py",),
    ),
    Guard(
        name="disabled-app-fails-its-stage",
        section="§4",
        why="an explanation would tell that a switched-off app is on",
        file="gateway/runtime/inventory.py",
        old="and (app is None or app.is_enabled)",
        new="and (app is None or True)",
        tests=(_CATALOG,),
    ),
    Guard(
        name="tool-without-its-permissions-is-not-offered",
        section="§4",
        why="agents would use what nobody granted",
        file="policy/engine.py",
        old="return _said(not missing,",
        new="return _said(True,",
        tests=(_CENTRE, _CATALOG),
    ),
    Guard(
        name="app-is-judged-by-its-row-in-the-transaction",
        section="§3",
        why="between the commit and its effect a disabled app would still be handed work",
        file="gateway/runtime/dispatch.py",
        old="    if not row.is_enabled:\n",
        new="    if False:\n",
        tests=(_CENTRE,),
    ),
    Guard(
        name="what-waits-for-a-changed-app-ends",
        section="§5",
        why="a person would approve what the old version said, and the new one would do it",
        file=_USE_CASES,
        old="            ended = withdraw_changed(tx, world.with_apps(catalog), now)\n",
        new="            ended = ()\n",
        tests=(_CENTRE,),
    ),
    Guard(
        name="ids-of-a-new-app-leave-the-pages",
        section="§4",
        why="a page could go on posing as the installed app",
        file="gateway/runtime/world.py",
        old="name: replace(page, capabilities=unreserved(page.capabilities, apps)) for name, page in self.pages.items()",
        new="name: page for name, page in self.pages.items()",
        tests=(_CENTRE, "tests/interaction/page/test_reserved.py"),
    ),
    Guard(
        name="page-declares-nothing-of-an-app",
        section="§4",
        why="a page could pose as an installed app from the next snapshot on",
        file="gateway/transports/page_ws/document.py",
        old="judge(whole, self._limits, self._services.live.world.apps.segments)",
        new="judge(whole, self._limits)",
        tests=("tests/interaction/page/test_reserved.py",),
    ),
    Guard(
        name="late-declaration-meets-the-new-app",
        section="§4",
        why="a snapshot judged before an app came could be taken after it",
        file="gateway/runtime/pages.py",
        old="        capabilities = unreserved(capabilities, self._live.world.apps)\n",
        new="",
        tests=(_CATALOG,),
    ),
    Guard(
        name="what-does-not-start-replaces-nothing",
        section="§7",
        why="a broken version would take the place of the one that works",
        file=_USE_CASES,
        old='        if flaw is not None:\n            raise _conflict(manifest.app.id, f"version `{manifest.app.version}`',
        new='        if False:\n            raise _conflict(manifest.app.id, f"version `{manifest.app.version}`',
        tests=(_CENTRE,),
    ),
    Guard(
        name="folder-gets-its-name-last",
        section="§13",
        why="half a package could bear the name of a whole one",
        file="gateway/adapters/app_files.py",
        old='        part = self._root / f"{_INCOMING}{secrets.token_hex(8)}"\n',
        new="        part = self.folder(digest)\n",
        tests=(_FILES,),
    ),
    Guard(
        name="link-is-not-followed-into-a-package",
        section="§7",
        why="a link laid into the folder would be read as the file, and lead elsewhere tomorrow",
        file="gateway/adapters/app_files.py",
        old="os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK",
        new="os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK",
        tests=(_FILES,),
    ),
)
