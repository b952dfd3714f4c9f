"""Local socket of the server of trials, in the work folder that only its owner can enter.

Its messages are JSON, not what a connection of multiprocessing pickles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_json

from iostudy.safe_path import open_directory
from iostudy_fleet.supervision.work_folder import WorkFolder
from iostudy_fleet.together.trial_messages import Answer, TrialRequest

_NAME = "trials.socket"
_FAMILY = "AF_UNIX"
_OWNER_ONLY = 0o600
_BACKLOG = 16
"""Connections to a server that hangs; one more would wait for ever."""
_REQUEST, _ANSWER = TypeAdapter(TrialRequest), TypeAdapter(Answer)


@contextmanager
def listen(folder: WorkFolder) -> Iterator[Listener]:
    """Listen in the folder; a socket that a killed server left is replaced."""
    with _address(folder) as address:
        (folder.path / _NAME).unlink(missing_ok=True)
        with Listener(address, _FAMILY, _BACKLOG) as listener:
            Path(address).chmod(_OWNER_ONLY)
            yield listener


@contextmanager
def connect(folder: WorkFolder) -> Iterator[Connection]:
    """Connect to the server; OSError without one."""
    with _address(folder) as address, Client(address, _FAMILY) as connection:
        yield connection


def send(connection: Connection, message: TrialRequest | Answer) -> None:
    """Send a message; OSError if the other end is gone."""
    connection.send_bytes(to_json(message, inf_nan_mode="constants"))


def receive_request(connection: Connection) -> TrialRequest:
    """The next request; EOFError without one."""
    return _REQUEST.validate_json(connection.recv_bytes())


def receive_answer(connection: Connection) -> Answer:
    """The next answer; EOFError without one."""
    return _ANSWER.validate_json(connection.recv_bytes())


@contextmanager
def _address(folder: WorkFolder) -> Iterator[str]:
    """A short path of the socket: unix(7) allows 108 bytes, which the folder's own may exceed."""
    with open_directory(folder.path) as descriptor:
        yield f"/proc/self/fd/{descriptor}/{_NAME}"
