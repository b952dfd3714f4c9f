"""The live view of real devices in a real terminal, which it leaves as it was."""

from __future__ import annotations

import re
import signal
import subprocess

import pytest

from tests.plugins.watch.terminal import Terminal

ALTERNATE_SCREEN, NORMAL_SCREEN = "\x1b[?1049h", b"\x1b[?1049l"
CURSOR_SHOWN, MOUSE_OFF, PASTE_OFF = b"\x1b[?25h", b"\x1b[?1003l", b"\x1b[?2004l"
COLOUR = re.compile(rb"\x1b\[[0-9;]*?(?<![0-9])(3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)[;m]")

pytestmark = pytest.mark.process


@pytest.mark.root
def test_devices_at_work_are_drawn_until_ctrl_c(loop):
    writer = subprocess.Popen(
        ["dd", "if=/dev/zero", f"of=/dev/{loop}", "bs=64k", "oflag=direct", "status=none"],
        stderr=subprocess.DEVNULL,
    )
    terminal = Terminal("watch", loop, "--interval", "0.2")
    try:
        terminal.wait_for(loop)
        assert terminal.modes() != terminal.before
        terminal.press(" ")
        terminal.wait_for("PAUSED")
        terminal.press("\x03")
        assert terminal.wait() == 130
    finally:
        writer.kill()
        writer.wait()
    assert_clean(terminal)


@pytest.mark.parametrize("at", [ALTERNATE_SCREEN, "Device"])
def test_a_signal_ends_it_at_any_time(at):
    terminal = Terminal("watch", "--interval", "0.2", NO_COLOR="1")
    terminal.wait_for(at)
    terminal.signal(signal.SIGTERM)
    assert terminal.wait() == 143
    assert_clean(terminal)
    assert not COLOUR.search(terminal.drawn)


def test_a_lost_connection_ends_it():
    terminal = Terminal("watch", "--interval", "0.2")
    terminal.wait_for("▁")
    assert COLOUR.search(terminal.drawn)
    assert terminal.hang_up() == 129


def test_a_terminal_that_is_still_there_is_put_right_after_a_hang_up_as_well():
    terminal = Terminal("watch", "--interval", "0.2")
    terminal.wait_for("▁")
    terminal.signal(signal.SIGHUP)
    assert terminal.wait() == 129
    assert_clean(terminal)


def assert_clean(terminal: Terminal) -> None:
    """The last word on each mode is that it is off."""
    assert terminal.modes() == terminal.before
    for sequence in (NORMAL_SCREEN, CURSOR_SHOWN, MOUSE_OFF, PASTE_OFF):
        assert sequence in terminal.drawn
    assert terminal.drawn.rindex(NORMAL_SCREEN) > terminal.drawn.rindex(ALTERNATE_SCREEN.encode())
    assert b"Traceback" not in terminal.drawn
