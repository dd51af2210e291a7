"""`ostiary.yaml` to `Configuration`, whole or not at all. `ostiary check`, start and reload all read it here."""

import hashlib
from collections.abc import Collection
from pathlib import Path

from capabilities.registry import BUILTINS
from gateway.adapters.configuration import keys, sections
from gateway.adapters.configuration.documents import documents_of
from gateway.adapters.configuration.fields import Fields
from gateway.adapters.configuration.nodes import FILE_BYTES_MAX, parse
from gateway.adapters.configuration.problems import ConfigurationError, Mark, Problem, Problems
from gateway.domain.configuration import Configuration

__all__ = ["ConfigurationError", "Problem", "load", "load_file"]

VERSION = 1
"""The one version of the file's shape."""


def load(text: str, path: str, *, builtins: Collection[str] = frozenset(BUILTINS)) -> Configuration:
    """Judge `text`; `path` is how problems name the file.

    Raises:
        ConfigurationError: with up to 20 problems, each with its line.
    """
    problems = Problems(path)
    root = parse(text, problems)
    top = Fields(root, "", keys.TOP, problems, Mark(1, 1))
    top.number("version", VERSION, VERSION, VERSION, required=True)
    limits = sections.limits_of(top)
    agents = sections.agents_of(top)
    sites = sections.sites_of(top, limits, agents)
    trust, apps = sections.apps_of(top)
    configuration = Configuration(
        revision=f"policy-{hashlib.sha256(text.encode()).hexdigest()[:12]}",
        server=sections.server_of(top, builtins),
        limits=limits,
        outbox=sections.outbox_of(top),
        sites=sites,
        agents=agents,
        rules=sections.rules_of(top, agents, sites),
        apps=apps,
        app_trust=trust,
        documents=documents_of(top),
    )
    problems.settle()
    return configuration


def load_file(path: Path, *, builtins: Collection[str] = frozenset(BUILTINS)) -> Configuration:
    """Judge the file at `path`.

    Raises:
        ConfigurationError: it cannot be read, or with its problems.
    """
    problems = Problems(str(path))
    text = ""
    try:
        with path.open("rb") as file:
            # One byte more than allowed is enough to know.
            data = file.read(FILE_BYTES_MAX + 1)
        text = data.decode()
    except OSError as error:
        problems.add(Mark(1, 1), "", f"cannot read the file: {error.strerror}", "`ostiary init` writes a starter")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.add(Mark(line, 1), "", "the file is not UTF-8")
    problems.settle()
    return load(text, str(path), builtins=builtins)
