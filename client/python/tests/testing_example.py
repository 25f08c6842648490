"""Tests that use `itsm_api.testing`. test/system/testing runs them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from itsm_api import InsufficientScopeError, InvalidApiKeyError, ItsmClient
from itsm_api.testing import Itsm, Workspace
from itsm_api.types import NewTicket

def in_hours(hours: int) -> datetime:
    return datetime.now(timezone.utc) + timedelta(hours=hours)


def test_finds_an_overdue_ticket(workspace: Workspace) -> None:
    client = workspace.client()
    new: NewTicket = {"title": "VPN", "description": "D", "type": "INCIDENT", "category": "NETWORK"}
    new["dueAt"] = in_hours(24).isoformat(timespec="seconds").replace("+00:00", "Z")
    ticket = client.tickets.create(new)
    assert list(client.tickets.list(overdue=True)) == []
    workspace.age("2d", ticket=ticket["id"])
    assert [each["id"] for each in client.tickets.list(overdue=True)] == [ticket["id"]]


def test_workspaces_have_their_own_users_and_keys(itsm: Itsm, workspace: Workspace) -> None:
    user = workspace.create_user(role="REQUESTER")
    key = workspace.create_key(scopes=["tickets:read"], expires_at=in_hours(1))
    limited = ItsmClient(itsm.url, api_key=key)
    assert list(limited.tickets.list()) == []
    with pytest.raises(InsufficientScopeError):
        limited.users.get(user["id"])
    workspace.age("2h", apiKey=key)
    with pytest.raises(InvalidApiKeyError):
        limited.tickets.list().page()
    assert [each["id"] for each in workspace.client().users.list(role="REQUESTER")] == [user["id"]]
    itsm.run_jobs("retention")
