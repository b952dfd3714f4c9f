"""HTTP interfaces of Hadoop daemons: JMX metrics, configuration, and YARN nodes.

Source: JMXJsonServlet, ConfServlet and the ResourceManager REST API (Apache Hadoop 3.4.2).
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from iostudy.errors import ClusterError

_LIMIT_SECONDS = 5.0
_LARGEST_BYTES = 64 << 20

# A proxy of the environment is for the world outside, not for a cluster.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def read_bean(address: str, service: str, name: str) -> Mapping[str, Any]:
    """Return the attributes of ``Hadoop:service=...,name=...``; empty if the bean is missing.

    ``address`` is host:port. A ``name`` that ends with ``*`` matches the first bean with that
    prefix. ClusterError if the daemon does not answer within seconds.
    """
    answer = fetch(address, f"/jmx?qry={quote(f'Hadoop:service={service},name={name}')}")
    beans = answer["beans"]
    return dict(beans[0]) if beans else {}


def read_property(address: str, name: str) -> str | None:
    """Return the value of a property in a running daemon, None without one."""
    try:
        answer = fetch(address, f"/conf?format=json&name={quote(name)}")
    except ClusterError as error:
        if isinstance(error.__cause__, urllib.error.HTTPError) and error.__cause__.code == 404:
            return None
        raise
    # Until Hadoop 2.8 the answer has all of them, whichever is requested (HADOOP-13628).
    properties = [answer["property"]] if "property" in answer else answer["properties"]
    return next((each.get("value") for each in properties if each["key"] == name), None)


def fetch(address: str, path: str) -> Any:
    """Return the JSON of ``http://address/path``; ClusterError without an answer within seconds."""
    url = f"http://{address}{path}"
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    try:
        with _opener.open(request, timeout=_LIMIT_SECONDS) as response:
            return json.loads(response.read(_LARGEST_BYTES))
    except urllib.error.HTTPError as error:
        error.close()
        raise _no_answer(url, f"HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise _no_answer(url, _reason_text(error.reason)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _no_answer(url, f"{type(error).__name__}: {error}") from error


def _reason_text(reason: str | BaseException) -> str:
    return (reason.strerror if isinstance(reason, OSError) else None) or str(reason)


def _no_answer(url: str, found: str) -> ClusterError:
    return ClusterError(
        "a daemon of Hadoop's that answers",
        found=found,
        where=url,
        remedy="see whether it runs, and what its log says",
    )
