"""Tools for the tests of your program."""

from __future__ import annotations

import base64
import json
import time
import uuid
from datetime import datetime, timezone
from typing import Any, Dict, Mapping, Tuple

from ._contract import PATH_PREFIX
from .webhooks import sign, standard_keys


def sign_test_event(event: Mapping[str, Any], secret: str, *, now: float | None = None) -> Tuple[bytes, Dict[str, str]]:
    """Creates a signed delivery to test a receiver: the body and the headers, as the server sends them.

    Generates an absent `id` or `timestamp`, and sets an absent `actor` to None.

    Example::

        body, headers = sign_test_event({"type": "ticket.created", "ticket": ticket}, secret)
    """
    at = time.time() if now is None else now
    timestamp = datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    complete = {"id": f"evt_{uuid.uuid4().hex}", "type": None, "timestamp": timestamp, "actor": None, **event}
    body = json.dumps(complete, ensure_ascii=False, separators=(",", ":")).encode()
    headers = sign_delivery(body, secret, event_id=str(complete["id"]), event_type=str(complete["type"]), now=at)
    return body, headers


def sign_delivery(
    body: bytes, secret: str, *, event_id: str, event_type: str, delivery_id: int = 1, now: float | None = None
) -> Dict[str, str]:
    """Returns the headers of the first attempt of a delivery, with the signatures that the server would send."""
    seconds = str(int(time.time() if now is None else now))
    content = f"{event_id}.{seconds}.".encode() + body
    standard = [base64.b64encode(sign(key, content)).decode() for key in standard_keys(secret)]
    event = json.loads(body)
    timestamp = event.get("timestamp") if isinstance(event, dict) else None
    return {
        "content-type": "application/json; charset=utf-8",
        **{"ce-specversion": "1.0", "ce-id": event_id, "ce-type": event_type, "ce-source": PATH_PREFIX},
        **({"ce-time": timestamp} if timestamp is not None else {}),
        "x-service-event": event_type,
        "x-service-delivery": str(delivery_id),
        "x-service-attempt": "1",
        "x-service-signature": sign(secret.encode(), body).hex(),
        "webhook-id": event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{each}" for each in standard),
    }
