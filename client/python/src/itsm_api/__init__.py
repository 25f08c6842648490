"""The typed client of the ITSM public API: tickets, assets, projects, tasks, users and webhooks."""

from ._bulk import BulkItem, BulkResult
from ._client import ItsmClient
from ._contract import VERSION as __version__
from ._errors import RateLimit
from ._files import Download, FileContent
from ._lists import ApiChanges, ApiList, ChangesPage, Page
from ._pacing import RateLimitWait
from ._send import ApiResponse
from .errors import *  # noqa: F403
from .errors import __all__ as _errors

__all__ = [
    "ApiChanges",
    "ApiList",
    "ApiResponse",
    "BulkItem",
    "BulkResult",
    "ChangesPage",
    "Download",
    "FileContent",
    "ItsmClient",
    "Page",
    "RateLimit",
    "RateLimitWait",
    "__version__",
    *_errors,
]
