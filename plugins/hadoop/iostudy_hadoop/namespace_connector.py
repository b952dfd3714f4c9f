"""Process in a cluster's network namespace that makes connections for iostudy.

A script of its own, ``python -I -S namespace_connector.py CHANNEL``. A socket belongs to the
namespace in which it was made, whoever uses it. Each request is ``HOST PORT SECONDS``; the answer
has the connected socket, or the number of an error.
"""

from __future__ import annotations

import errno
import socket
import sys

ENDED = errno.ECONNRESET
"""The error when there is no answer: the connector was ended with the cluster."""

_MOST_REQUEST_BYTES = 1024


def main(channel: socket.socket) -> None:
    """Serve until the other end of the channel is closed."""
    while request := channel.recv(_MOST_REQUEST_BYTES):
        host, port, seconds = request.decode().split()
        try:
            connection = socket.create_connection((host, int(port)), float(seconds))
        except OSError as error:
            channel.send(str(error.errno or errno.ETIMEDOUT).encode())
            continue
        with connection:
            socket.send_fds(channel, [b"0"], [connection.fileno()])


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
