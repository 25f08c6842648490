"""Tests of the verification of webhooks."""

from __future__ import annotations

import time
from typing import Any, Dict

import pytest

from itsm_api.testing import sign_delivery, sign_test_event
from itsm_api.webhooks import WebhookError, unwrap

SECRET = "a secret of the test, long enough"
ENCODED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = {"type": "ticket.created", "ticket": {"id": 1, "title": "Ünïcödé ✓"}}


def code_of(*args: Any, **options: Any) -> str:
    with pytest.raises(WebhookError) as raised:
        unwrap(*args, **options)
    return raised.value.code


def without(headers: Dict[str, str], *names: str) -> Dict[str, str]:
    return {name: value for name, value in headers.items() if name not in names}


@pytest.mark.parametrize("secret", [SECRET, ENCODED, "x", "ümläut ✓"])
def test_accepts_a_signed_delivery(secret: str) -> None:
    body, headers = sign_test_event(EVENT, secret)
    event = unwrap(body, headers, secret)
    assert event["type"] == "ticket.created" and event["ticket"]["title"] == "Ünïcödé ✓"
    assert unwrap(body.decode(), {name.upper(): value for name, value in headers.items()}, secret) == event
    plain = without(headers, "webhook-id", "webhook-timestamp", "webhook-signature")
    assert unwrap(body, plain, secret, require_timestamp=False) == event
    assert code_of(body, plain, secret) == "TIMESTAMP_MISSING"


def test_accepts_the_new_and_the_old_secret_during_a_rotation() -> None:
    body, headers = sign_test_event(EVENT, SECRET)
    assert unwrap(body, headers, ["the next secret", SECRET])["type"] == "ticket.created"
    assert code_of(body, headers, ["the next secret", "another"]) == "SIGNATURE_INVALID"
    both = {**headers, "webhook-signature": f"v1a,abc v1,AAAA v1,%% {headers['webhook-signature']}"}
    assert unwrap(body, both, SECRET)["type"] == "ticket.created"


def test_rejects_other_bodies_ids_and_signatures() -> None:
    body, headers = sign_test_event(EVENT, SECRET)
    for changed in [
        {"webhook-id": "evt_2"},
        {"webhook-timestamp": "1"},
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": ""},
        {"webhook-signature": headers["webhook-signature"][3:]},
    ]:
        assert code_of(body, {**headers, **changed}, SECRET) == "SIGNATURE_INVALID"
    assert code_of(body + b" ", headers, SECRET) == "SIGNATURE_INVALID"
    assert code_of(body, headers, SECRET + " ") == "SIGNATURE_INVALID"
    assert code_of(body, {"x-service-signature": "not hex"}, SECRET, require_timestamp=False) == "SIGNATURE_INVALID"
    assert code_of(body, {}, SECRET) == "SIGNATURE_MISSING"


def test_rejects_timestamps_outside_of_the_tolerance() -> None:
    now = int(time.time())
    body, headers = sign_test_event(EVENT, SECRET, now=now)
    for seconds in [-300, 0, 300]:
        unwrap(body, headers, SECRET, now=now + seconds)
    for seconds in [-301, 301]:
        assert code_of(body, headers, SECRET, now=now + seconds) == "TIMESTAMP_OUT_OF_RANGE"
    unwrap(body, headers, SECRET, now=now + 301, tolerance_seconds=400)
    timeless = sign_delivery(body, SECRET, event_id="evt_1", event_type="x", now=now)
    assert code_of(body, {**timeless, "webhook-timestamp": "NaN"}, SECRET) == "SIGNATURE_INVALID"


def test_returns_unknown_events_and_rejects_other_bodies() -> None:
    body, headers = sign_test_event({**EVENT, "type": "ticket.merged"}, SECRET)
    event = unwrap(body, headers, SECRET)
    assert event["type"] == "unknown" and event["body"]["type"] == "ticket.merged"
    for other in [b"", b"{", b"null", b"[]", b'{"id":"evt_1"}']:
        signed = sign_delivery(other or b"{", SECRET, event_id="evt_1", event_type="x") if other in (b"null", b"[]") else None
        if signed is not None:
            assert code_of(other, signed, SECRET) == "BODY_INVALID"


def test_explains_which_argument_is_missing() -> None:
    body, headers = sign_test_event(EVENT, SECRET)
    for missing in ["", [], [""]]:
        with pytest.raises(ValueError, match="needs the signing secret"):
            unwrap(body, headers, missing)
    with pytest.raises(TypeError, match="Disable JSON parsing"):
        unwrap({"type": "ticket.created"}, headers, SECRET)  # type: ignore[arg-type]
