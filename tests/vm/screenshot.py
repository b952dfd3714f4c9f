"""``python -m tests.watch.screenshot``: docs/watch.png, the live view of real disks at work.

As root, with chromium: loop devices, and fio on all of them but one. What is drawn after some
seconds becomes the picture.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iostudy.watch.app import WatchApp
from iostudy.watch.live import Live
from tests.fixtures_loop import MIB, loop_disk

PICTURE = Path(__file__).parents[2] / "docs" / "watch.png"
COLUMNS, LINES = 132, 16
INTERVAL_SECONDS, SECONDS = 0.5, 20.0
DISK_BYTES = 256 * MIB
WIDTH, HEIGHT = 1640, 470
"""Of the picture in pixels: that of Textual's SVG for so many columns and lines."""
LOADS = (
    ("randread", "rw=randread,bs=4k,iodepth=4"),
    ("writes", "rw=write,bs=256k,rate=40m"),
    ("bursts", "rw=randrw,bs=16k,thinktime=300ms,thinktime_blocks=400"),
)


def main() -> None:
    """Make the load, draw it, and write the picture."""
    with ExitStack() as stack:
        disks = [stack.enter_context(loop_disk(DISK_BYTES)) for _ in range(len(LOADS) + 1)]
        for disk, (name, options) in zip(disks, LOADS, strict=False):
            stack.enter_context(fio(name, disk, options))
        drawn = asyncio.run(svg(disks))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "watch.svg"
        page.write_text(drawn, encoding="utf-8")
        photograph(page)


@contextmanager
def fio(name: str, disk: str, options: str) -> Iterator[None]:
    """The load, as long as somebody looks."""
    each = [f"--{option}" for option in options.split(",")]
    command = ["fio", f"--name={name}", f"--filename=/dev/{disk}", "--direct=1", *each]
    command += ["--ioengine=libaio", "--time_based", "--runtime=600", "--eta=never"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def svg(disks: list[str]) -> str:
    """What is drawn after a while, sorted by %util."""
    app = WatchApp(Live(disks), INTERVAL_SECONDS)
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        await pilot.press("greater_than_sign")
        await pilot.pause(SECONDS)
        return app.export_screenshot(title="iostudy watch")


def photograph(page: Path) -> None:
    """As chromium shows it."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command = ["chromium", *flags, f"--screenshot={PICTURE}", f"--window-size={WIDTH},{HEIGHT}"]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
