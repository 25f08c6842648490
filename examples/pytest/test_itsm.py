"""Tests with the image `standalone` (docs/guides/test-your-integration.md).

Usage: `pytest test_itsm.py`. To use a server that is already running, set ITSM_URL.
"""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone

import pytest

URL = os.environ.get("ITSM_URL", "http://127.0.0.1:3900")

@pytest.fixture(scope="session", autouse="ITSM_URL" not in os.environ)
def itsm():
    image = ["itsm-standalone", "--retry-schedule=50,100,200"]
    docker = ["docker", "run", "--rm", "--publish=127.0.0.1:3900:3000", *image]
    with subprocess.Popen(docker, stdout=subprocess.PIPE) as server:
        next(line for line in server.stdout if b"is running" in line)
        yield
        server.terminate()

def call(path, body=None, key=""):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(URL + path, data, headers)))


@pytest.fixture
def workspace():
    return call("/testing/workspaces", {})


@pytest.fixture
def api(workspace):
    return lambda path, body=None: call("/api/public/v1" + path, body, workspace["key"])["data"]


@pytest.fixture
def age(workspace):
    return lambda **row: call(f"/testing/workspaces/{workspace['id']}/age", row)


ticket = {"title": "VPN drops", "description": "…", "type": "INCIDENT", "category": "NETWORK"}
# No program listens on port 9, so each attempt fails.
webhook = {"url": "http://127.0.0.1:9/", "events": ["ticket.created"]}


def after(**duration):
    return (datetime.now(timezone.utc) + timedelta(**duration)).isoformat(timespec="seconds").replace("+00:00", "Z")


def wait_until(is_met):
    deadline = time.monotonic() + 10
    while not is_met():
        assert time.monotonic() < deadline, "The condition isn't met after 10 seconds."
        time.sleep(0.05)


def test_finds_an_overdue_ticket(api, age):
    created = api("/tickets", {**ticket, "dueAt": after(days=1)})
    assert api("/tickets?overdue=true") == []
    age(ticket=created["id"], by="2d")
    assert [each["id"] for each in api("/tickets?overdue=true")] == [created["id"]]


def test_rejects_an_expired_key(workspace, age):
    new_key = {"user": workspace["admin"]["email"], "expiresAt": after(hours=1)}
    key = call(f"/testing/workspaces/{workspace['id']}/keys", new_key)["key"]
    call("/api/public/v1/me", key=key)
    age(apiKey=key, by="2h")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        call("/api/public/v1/me", key=key)


def test_deletes_an_exhausted_delivery(api, age):
    deliveries = f"/webhooks/{api('/webhooks', webhook)['id']}/deliveries"
    api("/tickets", ticket)
    wait_until(lambda: api(deliveries)[0]["state"] == "EXHAUSTED")
    [delivery] = api(deliveries)
    assert delivery["attemptCount"] == 4
    age(delivery=delivery["id"], by="31d")
    call("/testing/jobs/retention", {})
    assert api(deliveries) == []


def test_pauses_a_failing_webhook(api):
    path = f"/webhooks/{api('/webhooks', webhook)['id']}"

    def is_paused():
        api("/tickets", ticket)
        return api(path)["health"] == "PAUSED"

    wait_until(is_paused)
