"""Every guard, in the order the run takes them out."""

from typing import Final

from tests.guards import (
    app_centre,
    approvals,
    calls,
    caps,
    documents,
    edge,
    entries,
    frames,
    identity,
    incoming,
    lineup,
    outbox,
    packages,
    page,
    panel,
    policy,
    rendering,
    running_apps,
    session_data,
    surfaces,
    trail,
    workers,
)
from tests.guards.guard import Guard

GUARDS: Final[tuple[Guard, ...]] = (
    *approvals.GUARDS,
    *calls.GUARDS,
    *entries.GUARDS,
    *identity.GUARDS,
    *policy.GUARDS,
    *edge.GUARDS,
    *incoming.GUARDS,
    *caps.GUARDS,
    *trail.GUARDS,
    *packages.GUARDS,
    *app_centre.GUARDS,
    *page.GUARDS,
    *frames.GUARDS,
    *running_apps.GUARDS,
    *surfaces.GUARDS,
    *documents.GUARDS,
    *panel.GUARDS,
    *rendering.GUARDS,
    *workers.GUARDS,
    *lineup.GUARDS,
    *outbox.GUARDS,
    *session_data.GUARDS,
)
