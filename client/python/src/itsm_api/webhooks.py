"""Verifies webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, List, Mapping, Sequence, cast

from ._contract import EVENT_TYPES
from .types import KnownEvent, WebhookEvent

__all__ = ["EVENT_TYPES", "KnownEvent", "WebhookError", "WebhookEvent", "unwrap"]


class WebhookError(Exception):
    """The error of a delivery that `unwrap` rejects. If you respond with 400, the server retries the delivery."""

    code: str
    """The reason: `SIGNATURE_MISSING`, `SIGNATURE_INVALID`, `TIMESTAMP_MISSING`, `TIMESTAMP_OUT_OF_RANGE` or `BODY_INVALID`."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


def unwrap(
    raw_body: bytes | str,
    headers: Mapping[str, Any],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
    require_timestamp: bool = True,
) -> WebhookEvent:
    """Verifies a delivery and returns its event. Raises `WebhookError` if the verification fails.

    Verifies the standard signature (`webhook-signature`) and its timestamp. With `require_timestamp=False`, also accepts
    `X-Service-Signature`, which has no timestamp, so attackers can replay such deliveries. The server may deliver an
    event more than once, so store the `id` of each processed event and skip duplicates. An event that this version of
    the client doesn't know has the type `unknown`.

    - `raw_body`: the body as received, before any parsing.
    - `secret`: the signing secret of the subscription. During a rotation, pass the new and the old secret.
    - `now`: the time in seconds that the signed timestamp is compared with. By default, the current time.

    Example::

        event = unwrap(raw_body, headers, secret)
        if event["type"] == "ticket.created":
            print(event["ticket"]["ticketNumber"])
    """
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(isinstance(each, str) and each for each in secrets):
        raise ValueError("unwrap needs the signing secret of the subscription. Pass one or more.")
    if not isinstance(raw_body, (str, bytes, bytearray)):
        raise TypeError("unwrap needs the raw body as text or bytes. Disable JSON parsing for this route.")
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    standard = _header(headers, "webhook-signature")
    plain = _header(headers, "x-service-signature")
    if standard is not None:
        timestamp = _header(headers, "webhook-timestamp") or ""
        content = f"{_header(headers, 'webhook-id') or ''}.{timestamp}.".encode() + body
        signatures = [_from_base64(each[3:]) for each in standard.split(" ") if each.startswith("v1,")]
        _verify([key for each in secrets for key in standard_keys(each)], signatures, content)
        _check_time(timestamp, tolerance_seconds, time.time() if now is None else now)
    elif plain is not None and require_timestamp:
        raise WebhookError(
            "The request has X-Service-Signature, but no webhook-signature with a timestamp. The request may be a replay, "
            "or a proxy may have removed headers. Forward the webhook-* headers, or set require_timestamp=False.",
            "TIMESTAMP_MISSING",
        )
    elif plain is not None:
        _verify([each.encode() for each in secrets], [_from_hex(plain)], body)
    else:
        names = "webhook-signature or X-Service-Signature"
        raise WebhookError(f"The request has no {names} header. It is not a delivery.", "SIGNATURE_MISSING")
    return _parse(body)


def sign(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()


def _verify(keys: Sequence[bytes], signatures: Sequence[bytes | None], content: bytes) -> None:
    is_valid = False
    for key in keys:
        expected = sign(key, content)
        for signature in signatures:
            # Compares every signature in constant time, which prevents timing attacks.
            if signature is not None and hmac.compare_digest(expected, signature):
                is_valid = True
    if not is_valid:
        message = "The signature does not match. Check the secret, and pass the body as received, before any parsing."
        raise WebhookError(message, "SIGNATURE_INVALID")


def standard_keys(secret: str) -> List[bytes]:
    """Returns the keys of a secret: its bytes, and after `whsec_` also the decoded secret. The server signs with both."""
    decoded = _from_base64(secret[len("whsec_") :]) if secret.startswith("whsec_") else None
    return [secret.encode(), decoded] if decoded else [secret.encode()]


def _check_time(timestamp: str, tolerance_seconds: float, now: float) -> None:
    age = now - int(timestamp) if timestamp.isdecimal() else float("inf")
    if abs(age) <= tolerance_seconds:
        return
    distance = f"{abs(age):.0f} seconds {'old' if age > 0 else 'ahead'}"
    raise WebhookError(
        f"The signature is {distance}, but only {tolerance_seconds:g} are allowed. Check the clock, or reject the replay.",
        "TIMESTAMP_OUT_OF_RANGE",
    )


def _parse(raw: bytes) -> WebhookEvent:
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("type"), str):
        if body["type"] in EVENT_TYPES:
            return cast(KnownEvent, body)
        return {"id": body.get("id", ""), "type": "unknown", "timestamp": body.get("timestamp", ""), "body": body}
    raise WebhookError("The signature is valid, but the body is not an event in JSON.", "BODY_INVALID")


def _header(headers: Mapping[str, Any], name: str) -> str | None:
    for given, value in headers.items():
        if given.lower() == name:
            return value if isinstance(value, str) else " ".join(value)
    return None


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _from_hex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None
