"""The live view, with keys and mouse as Textual delivers them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partialmethod

import pytest
from textual.pilot import Pilot

from iostudy.errors import InternalError
from iostudy_watch.app import WatchApp, show
from iostudy_watch.grid import Grid
from tests.plugins.watch.of_devices import STACK, UTILS, disk, reading

SLOW = 86400.0
"""No reading comes by itself."""
Act = Callable[[Pilot[int], "Screen"], Awaitable[None]]


class FakeLive:
    """Readings one after the other, the last one again and again."""

    def __init__(self, *readings) -> None:
        self.readings = list(readings)

    def read(self):
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]


class Screen:
    """The screen of the app."""

    def __init__(self, app: WatchApp) -> None:
        self.app = app

    def lines(self) -> list[str]:
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    def devices(self) -> list[str]:
        """The first word of each row, without marks."""
        grid = self.app.query_one(Grid)
        first, height = grid.region.y + 1, grid.scrollable_size.height - 1
        words = (
            line.lstrip(" ▾▸").split(" ", 1)[0] for line in self.lines()[first : first + height]
        )
        return [word for word in words if word]

    def head(self) -> str:
        return next(line for line in self.lines() if line.startswith("Device"))


def run(act: Act, *readings, size=(80, 24), interval=SLOW) -> None:
    """Act on the view of the first reading."""
    app = WatchApp(FakeLive(*(readings or [reading(STACK, UTILS)])), interval)

    async def in_the_loop() -> None:
        async with app.run_test(size=size) as pilot:
            screen = Screen(app)
            while "Quit" not in screen.lines()[-1]:  # keys are drawn some time after the rest
                await pilot.pause()
            app._read()
            await pilot.pause()
            await act(pilot, screen)

    asyncio.run(in_the_loop())


def test_machine_devices_and_keys_fit_into_80_columns():
    async def act(pilot, screen):
        output = "\n".join(screen.lines())
        assert all(len(line) == 80 for line in screen.lines())
        for words in ("node7", "30% io", "40% iowait", "2.00 MiB of 4.00 GiB", "q Quit", "? Help"):
            assert words in output
        assert screen.head().split()[-1] == "aqu-sz"
        assert screen.devices() == [
            "sdc", "vg0/swap", "md/data", "sda", "sdb", "vg0/home", "md/data", "sda", "sdb",
        ]  # fmt: skip
        swap = next(line for line in screen.lines() if "vg0/swap" in line)
        assert swap.split()[3:] == ["0"] * 8

    run(act)


def test_columns_are_chosen_by_keys():
    async def act(pilot, screen):
        await pilot.press("t", "greater_than_sign")
        assert screen.devices() == ["sdb", "md/data", "vg0/home", "sda", "sdc", "vg0/swap"]
        assert "▼%util" in screen.head()
        await pilot.press("r")
        assert screen.devices()[:2] == ["vg0/swap", "sdc"]
        await pilot.press("greater_than_sign", "greater_than_sign", "h")
        assert "▼w/s" in screen.head()
        assert screen.head().split()[1] == "w/s"
        await pilot.press("less_than_sign", "less_than_sign", "less_than_sign")
        assert screen.head().startswith("Device▼")

    run(act)


def test_a_click_on_a_head_sorts_by_it_and_another_one_turns_the_order_round():
    async def act(pilot, screen):
        await pilot.press("t")
        at = screen.head().index("%util", 20)
        await pilot.click(Grid, offset=(at, 0))
        assert screen.devices()[0] == "sdb"
        await pilot.click(Grid, offset=(at, 0))
        assert screen.devices()[0] == "vg0/swap"
        await pilot.click(Grid, offset=(2, 0))
        assert screen.devices()[0] == "sda"

    run(act)


def test_click_selects_the_visible_column_after_scrolling():
    async def act(pilot, screen):
        await pilot.press("right")
        screen.app.query_one(Grid).scroll_to(x=30, animate=False)
        await pilot.pause()
        at = screen.head().index("wareq-sz")
        await pilot.click(Grid, offset=(at + 1, 0))
        assert "▼wareq-sz" in screen.head()
        assert screen.head().startswith("Device ")

    run(act)


def test_slash_filters_until_escape():
    async def act(pilot, screen):
        await pilot.press("slash", *"sdc")
        assert screen.devices() == ["sdc"]
        await pilot.press("enter", "t")
        assert screen.devices() == ["sdc"]
        assert "only *sdc*" in screen.lines()[0]
        await pilot.press("escape")
        assert len(screen.devices()) == 6

    run(act)


def test_a_volume_is_folded_under_the_cursor_which_stays_with_its_device():
    async def act(pilot, screen):
        await pilot.press("down", "enter")
        assert screen.devices()[:3] == ["sdc", "vg0/swap", "vg0/home"]
        await pilot.press("greater_than_sign", "enter")
        assert screen.devices()[-4:] == ["vg0/swap", "md/data", "sdb", "sda"]
        await pilot.press("pageup", "pagedown", "home", "enter")
        folded = ["vg0/home", "sdc", "vg0/swap", "md/data", "sdb", "sda"]
        assert screen.devices() == folded
        await pilot.press("down", "enter")
        assert screen.devices() == folded

    run(act)


def test_pause_freezes_figures_but_not_history():
    readings = [reading([disk("sda")], {"sda": util}) for util in (10.0, 20.0, 30.0)]

    async def act(pilot, screen):
        await pilot.press("space")
        screen.app._read()
        await pilot.pause()
        assert "PAUSED" in screen.lines()[0]
        assert "10.0" in "\n".join(screen.lines())
        await pilot.press("space")
        screen.app._read()
        await pilot.pause()
        assert "30.0" in "\n".join(screen.lines())
        assert "▁▂▃" in "\n".join(screen.lines())

    run(act, *readings)


def test_only_lines_that_have_changed_are_drawn():
    utils = {"sda": 0.0, "sdb": 50.0, "sdc": 0.0}
    idle = reading([disk(name) for name in utils], utils)
    busier = reading([disk(name) for name in utils], utils | {"sdb": 60.0})
    drawn = []

    async def act(pilot, screen):
        for _ in range(30):  # until the history of an idle device is one line of lowest bars
            screen.app._read()
        screen.lines()
        grid = screen.app.query_one(Grid)
        draw = grid.render_line
        grid.render_line = lambda y: drawn.append(y) or draw(y)
        screen.app._read()
        screen.lines()
        assert drawn == []
        screen.app._live.readings = [busier]
        screen.app._read()
        assert "60.0" in screen.lines()[grid.region.y + 2]
        assert drawn == [2]
        await pilot.press("down")
        screen.lines()
        assert set(drawn) >= {1, 2}

    run(act, idle)


def test_the_interval_is_changed_in_steps():
    async def act(pilot, screen):
        assert "every 2 s" in screen.lines()[0]
        await pilot.press("plus")
        assert "every 5 s" in screen.lines()[0]
        await pilot.press(*["minus"] * 6)
        assert "every 0.1 s" in screen.lines()[0]
        await pilot.press(*["plus"] * 9)
        assert "every 60 s" in screen.lines()[0]

    run(act, interval=2.0)


def test_the_help_has_every_key_and_goes_again():
    async def act(pilot, screen):
        await pilot.press("question_mark")
        output = "\n".join(screen.lines())
        for words in ("<  Sort by", "space  ", "^c  ", "A click on the head"):
            assert words in output
        await pilot.press("escape")
        assert "Sort by the column" not in "\n".join(screen.lines())
        assert screen.devices()

    run(act, size=(80, 40))


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (300, 60)])
def test_many_devices_are_reached_in_any_terminal(size):
    many = [disk(f"sd{number}") for number in range(60)]
    now = reading(many, {device.name: 1.0 for device in many})

    async def act(pilot, screen):
        assert screen.devices()[0] == "sd0"
        await pilot.press("end")
        await pilot.pause()
        assert screen.devices()[-1] == "sd59"
        assert "sd0" not in screen.devices() or size[1] > 60
        await pilot.resize_terminal(70, 12)
        await pilot.pause()
        assert len(screen.lines()) == 12

    run(act, now, size=size)


def test_a_wide_terminal_has_room_for_every_column_and_a_longer_history():
    async def act(pilot, screen):
        assert screen.head().split()[-1] == "dareq-sz"
        for _ in range(30):
            screen.app._read()
        await pilot.pause()
        assert "▁" * 31 in "\n".join(screen.lines())

    run(act, reading([disk("sda")], {"sda": 0.0}), size=(260, 20))


def test_names_are_text_whatever_they_hold():
    hostile = disk("[red]x\x1b[2J")

    async def act(pilot, screen):
        assert any(line.startswith("[red]x") for line in screen.lines())
        assert "\x1b" not in "".join(screen.lines())

    run(act, reading([hostile], {hostile.name: 1.0}))


def test_live_view_ends_after_the_requested_readings():
    app = WatchApp(FakeLive(reading(STACK, UTILS)), 0.1, count=2)
    asyncio.run(app.run_async(headless=True))
    assert app.return_value is None
    assert app.return_code == 0


def test_a_failure_of_the_table_is_an_internal_error(monkeypatch):
    """Textual would exit with 1, which is a verdict's."""

    class FailingLive(FakeLive):
        def read(self):
            raise KeyError("sda")

    headless = partialmethod(WatchApp.run_async, headless=True)
    monkeypatch.setattr(WatchApp, "run_async", headless)
    with pytest.raises(InternalError):
        show(FailingLive(reading(STACK, UTILS)), 0.1, None, ())


def test_no_device_at_all_is_no_error():
    async def act(pilot, screen):
        await pilot.press("down", "enter", "end", "greater_than_sign")
        assert screen.devices() == []

    run(act, reading([], {}))
