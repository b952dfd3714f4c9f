"""Cable that delays and loses frames, with the arguments DESCRIPTOR NAME DELAY LOSS.

DESCRIPTOR is an open TAP device. The process makes another, NAME, in its own network namespace, and
passes frames between them after DELAY seconds, except for the share LOSS. netem does the same, but
not every kernel has it; tun(4) devices are in more of them.
"""

from __future__ import annotations

import fcntl
import os
import random
import select
import struct
import sys
import time
from collections import deque
from contextlib import suppress

# <linux/if_tun.h>
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_LONGEST_FRAME = 65536
SEED = 1


def open_tap(name: str) -> int:
    """Make a TAP device in the network namespace of this process; it is gone once closed."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR)
    request = struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI)  # struct ifreq
    fcntl.ioctl(descriptor, _TUNSETIFF, request)
    return descriptor


def pass_frames(ends: tuple[int, int], delay: float, loss: float) -> None:
    """Pass frames from each end to the other, for ever."""
    other = dict(zip(ends, reversed(ends), strict=True))
    waiting: deque[tuple[float, int, bytes]] = deque()
    chance = random.Random(SEED)
    while True:
        left = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, (), (), left)[0]:
            frame = os.read(end, _LONGEST_FRAME)
            if chance.random() >= loss:
                waiting.append((time.monotonic() + delay, other[end], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, end, frame = waiting.popleft()
            with suppress(OSError):  # the device is down: the frame is lost
                os.write(end, frame)


def main() -> None:
    """Open the second device, say so, and pass frames."""
    descriptor, name, delay, loss = sys.argv[1:]
    ends = (int(descriptor), open_tap(name))
    sys.stdout.write("open\n")
    sys.stdout.flush()
    pass_frames(ends, float(delay), float(loss))


if __name__ == "__main__":
    main()
