"""A consumer of the outbox in one file: verifies each post, takes each event once, and prints it.

OSTIARY_WEBHOOK_SECRET=whsec_… python webhook_consumer.py [port]
"""

import base64
import hmac
import json
import os
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer


def key_of(secret: str) -> bytes:
    """The key of a secret as the gateway reads it."""
    return base64.b64decode(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else secret.encode()


def is_ours(key: bytes, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Whether the post is the gateway's, made within the last five minutes."""
    name, stamp = headers["webhook-id"], headers["webhook-timestamp"]
    wanted = hmac.digest(key, f"{name}.{stamp}.".encode() + body, "sha256")
    told = base64.b64decode(headers["webhook-signature"].removeprefix("v1,"))
    return hmac.compare_digest(wanted, told) and abs(now - int(stamp)) <= 300


class Consumer(BaseHTTPRequestHandler):
    """Answers 401 to what is not the gateway's, and 204 to an event, new or known."""

    key = b""
    seen: set[str] = set()  # noqa: RUF012 - one consumer, one memory; yours is a table

    def do_POST(self) -> None:
        """Take one post."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_ours(self.key, self.headers, body, time.time()):  # noqa: TID251 - a program of its own
            self.send_error(401)
            return
        event = json.loads(body)
        if event["id"] not in self.seen:
            self.seen.add(event["id"])
            print(event["type"], json.dumps(event["data"]), flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name http.server gives it
        """Say nothing of its own."""


def main() -> None:
    """Serve until interrupted."""
    Consumer.key = key_of(os.environ["OSTIARY_WEBHOOK_SECRET"])
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8461
    HTTPServer(("127.0.0.1", port), Consumer).serve_forever()


if __name__ == "__main__":
    main()
