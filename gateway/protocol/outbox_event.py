"""An outbox entry on the wire: a structured CloudEvent (CloudEvents 1.0, JSON format), the same bytes every time."""

import json
from datetime import UTC, datetime
from typing import Any, Final

from gateway.domain.canonical import canonical
from gateway.domain.outbox import OutboxEntry

CONTENT_TYPE: Final = "application/cloudevents+json"


def body_of(entry: OutboxEntry, public_url: str) -> bytes:
    """The event of `entry`. `source` is the gateway, or the app whose handler emitted it; (source, id) names it for
    ever. `partitionkey` is what it is in order with."""
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": entry.id,
        "source": public_url if entry.app is None else f"{public_url}/apps/{entry.app}",
        "type": entry.type,
        "subject": entry.subject,
        "time": datetime.fromtimestamp(entry.at / 1_000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z"),
        "partitionkey": entry.key,
        "datacontenttype": "application/json",
        "data": json.loads(entry.data),
    }
    if entry.traceparent is not None:
        event["traceparent"] = entry.traceparent
    return canonical(event)
