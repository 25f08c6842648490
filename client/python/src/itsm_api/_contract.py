# Generated from the contract by `pnpm generate`. Do not edit.
"""The constants of the contract."""

VERSION = "1.0.0"

# The prefix of every path.
PATH_PREFIX = "/api/public/v1"

# The limits of a bulk request.
MAX_BULK_ITEMS = 100
MAX_BODY_BYTES = 1048576

EVENT_TYPES = ("ticket.created", "ticket.updated", "asset.created", "task.updated",)
