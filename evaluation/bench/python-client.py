"""Measures the Python client against a server at ITSM_URL with the API key ITSM_KEY. Prints the results as JSON."""

import http.client
import json
import os
import statistics
import time
from urllib.parse import urlsplit

from itsm_api import ItsmClient

READS, ROUNDS, DEVICES = 2000, 7, 2000

url, key = os.environ["ITSM_URL"], os.environ["ITSM_KEY"]
client = ItsmClient(url, api_key=key)
new = {"title": "VPN drops", "description": "Every ten minutes.", "type": "INCIDENT", "category": "NETWORK"}
ticket = client.tickets.create(new)


def read_with_http_client():
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}
    for _ in range(READS):
        connection.request("GET", f"/api/public/v1/tickets/{ticket['id']}", headers=headers)
        json.loads(connection.getresponse().read())


def read_with_client():
    for _ in range(READS):
        client.tickets.get(ticket["id"])


def cpu_seconds(read):
    start = time.process_time()
    read()
    return time.process_time() - start


ratios = []
for _ in range(ROUNDS):
    plain = cpu_seconds(read_with_http_client)
    ratios.append(cpu_seconds(read_with_client) / plain)

devices = [{"assetTag": f"DEV-{index}", "name": f"Laptop {index}", "type": "LAPTOP"} for index in range(DEVICES)]
start = time.monotonic()
result = client.assets.upsert_many(devices)
seconds = time.monotonic() - start
assert result.counts["CREATED"] == DEVICES
print(json.dumps({"cpuRatio": round(statistics.median(ratios), 2), "deviceSeconds": round(seconds, 1)}))
