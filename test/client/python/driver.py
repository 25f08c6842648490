"""Runs calls of the Python client for the tests: reads a JSON object from each line, and writes its outcome as JSON."""

import contextlib
import io
import json
import os
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import itsm_api
from itsm_api import ItsmClient, ItsmError

clients = {}


def run(task):
    if "program" in task:
        os.environ.update(task["env"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(task["program"], {})
        return [printed.getvalue()]
    # Reduces each retry delay to 5% of its length to keep the tests fast.
    random.random = lambda: task.get("random", 1.9)
    if "skew" in task:
        real = time.time
        time.time = lambda: real() + task["skew"]
    options = {"api_key": task.get("apiKey"), **task.get("client", {})}
    key = json.dumps([task["baseUrl"], options])
    client = clients.get(key) or clients.setdefault(key, ItsmClient(task["baseUrl"], **options))
    if task.get("options"):
        client = client.with_options(**task["options"])
    with ThreadPoolExecutor(len(task["sources"])) as threads:
        return list(threads.map(lambda source: outcome(client, source), task["sources"]))


def outcome(client, source):
    try:
        value = eval(source, {"client": client, **vars(itsm_api)})
        return {"value": list(value) if isinstance(value, (itsm_api.ApiList, itsm_api.ApiChanges)) else shown(value)}
    except ItsmError as error:
        names = ["code", "method", "path", "status", "message", "page", "cursor", "remedy", "docs", "details"]
        names += ["request_id", "request_url", "required_scope", "retry_after_seconds"]
        return {"error": {"name": type(error).__name__, **{name: getattr(error, name) for name in names}}}
    except Exception as error:
        return {"error": {"name": type(error).__name__, "message": str(error)}}


def shown(value):
    return value if isinstance(value, (dict, list, str, int, type(None))) else None


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
