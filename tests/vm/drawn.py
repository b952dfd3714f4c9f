"""``python -m tests.vm.drawn READINGS DEVICE...``: the live view after so many readings, as SVG."""

from __future__ import annotations

import asyncio
import sys

from iostudy_watch.app import WatchApp
from iostudy_watch.live import Live, Reading

COLUMNS, LINES = 132, 26
INTERVAL_SECONDS = 2.0


class CountingLive(Live):
    """Counts the readings: how long one takes to be drawn differs by the machine."""

    taken = 0

    def read(self) -> Reading:
        """The next one."""
        self.taken += 1
        return super().read()


async def svg(devices: list[str], readings: int) -> str:
    """What is drawn by then, sorted by %util."""
    live = CountingLive(devices)
    app = WatchApp(live, INTERVAL_SECONDS)
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        await pilot.press("greater_than_sign")
        while live.taken < readings:
            await pilot.pause(INTERVAL_SECONDS)
        return app.export_screenshot(title="iostudy watch")


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(svg(sys.argv[2:], int(sys.argv[1]))))
