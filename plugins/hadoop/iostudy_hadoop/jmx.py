"""HTTP interfaces of Hadoop daemons: JMX metrics, configuration, and YARN nodes.

Source: JMXJsonServlet, ConfServlet and the ResourceManager REST API (Apache Hadoop 3.4.2).
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from iostudy.errors import ClusterError
from iostudy_hadoop.namespace import Address

_LIMIT_SECONDS = 5.0
_LARGEST_BYTES = 64 << 20


def read_bean(address: Address, service: str, name: str) -> Mapping[str, Any]:
    """Return the attributes of ``Hadoop:service=...,name=...``; empty if the bean is missing.

    A ``name`` that ends with ``*`` matches the first bean with that
    prefix. ClusterError if the daemon does not answer within seconds.
    """
    answer = fetch(address, f"/jmx?qry={quote(f'Hadoop:service={service},name={name}')}")
    beans = answer["beans"]
    return dict(beans[0]) if beans else {}


def read_property(address: Address, name: str) -> str | None:
    """Return the value of a property in a running daemon, None without one."""
    path = f"/conf?format=json&name={quote(name)}"
    status, answer = _request(address, path, (HTTPStatus.OK, HTTPStatus.NOT_FOUND))
    if status == HTTPStatus.NOT_FOUND:
        return None
    # Until Hadoop 2.8 the answer has all of them, whichever is requested (HADOOP-13628).
    properties = [answer["property"]] if "property" in answer else answer["properties"]
    return next((entry.get("value") for entry in properties if entry["key"] == name), None)


def fetch(address: Address, path: str) -> Any:
    """Return the JSON of ``http://address/path``; ClusterError without an answer within seconds."""
    return _request(address, path, (HTTPStatus.OK,))[1]


def _request(address: Address, path: str, accepted: Collection[int]) -> tuple[int, Any]:
    """Return status and JSON of an answer with an accepted status; None for other than OK.

    It uses no proxy: those of the environment are for the world outside.
    """
    url = f"http://{address}{path}"
    connection = http.client.HTTPConnection(str(address))
    try:
        connection.sock = address.connect(_LIMIT_SECONDS)
        connection.request("GET", path, headers={"Accept": "application/json"})
        with connection.getresponse() as response:
            if response.status not in accepted:
                raise _no_answer(url, f"HTTP {response.status} {response.reason}")
            if response.status != HTTPStatus.OK:
                return response.status, None
            return response.status, json.loads(response.read(_LARGEST_BYTES))
    except OSError as error:
        raise _no_answer(url, error.strerror or str(error)) from error
    except (http.client.HTTPException, ValueError) as error:
        raise _no_answer(url, f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()


def _no_answer(url: str, found: str) -> ClusterError:
    return ClusterError(
        "a daemon of Hadoop's that answers",
        found=found,
        where=url,
        remedy="see whether it runs, and what its log says",
    )
