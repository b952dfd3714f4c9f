"""Parser of DiskSim's files, and accuracy where the measured traces are present."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from benches import drive_accuracy

from iostudy.errors import UsageError
from iostudy_lab.drives import disksim, drive_file
from iostudy_lab.drives.disksim_syntax import parse

TRACES = Path(__file__).parents[5] / "shared" / "drives"
DRIVES = sorted({path.stem.removesuffix("_validate") for path in TRACES.glob("*.model")})


def test_blocks_and_lists_are_parsed():
    zones = "[ zone { a b = 2 }, zone { a b = 3 } ]"
    text = f"disk A {{\n  x = 1.5, # comment\n  Zones = {zones},\n  e = []\n}}"
    assert parse(text) == {"x": "1.5", "Zones": [{"a b": "2"}, {"a b": "3"}], "e": []}


@pytest.mark.parametrize("text", ["", "disk A", "disk A { x = ", "disk A { x 1 }"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match=r"expected|ends"):
        parse(text)


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no measured traces in {TRACES}")
@pytest.mark.parametrize("trace", sorted(TRACES.glob("*.trace")), ids=lambda path: path.stem)
def test_the_demerit_is_at_most_8_percent(trace):
    assert drive_accuracy.replay(trace).demerit <= 0.08


@pytest.mark.parametrize("suffix", ["", "_validate"])
@pytest.mark.parametrize("name", DRIVES)
def test_parameters_of_any_drive_suffice(name, suffix, tmp_path, capsys):
    for path in TRACES.glob(f"{name}*"):
        if path.suffix != ".trace":
            shutil.copy(path, tmp_path)
    blocks = drive_file.check(disksim.convert(tmp_path, name), name).size_bytes // 512
    draw = random.Random(name)
    lines = (
        f"{draw.choice('RRW')} Miss {draw.randrange(blocks - 64)} {draw.choice((2, 8, 64))} "
        f"{draw.randrange(5_000, 30_000)} {draw.randrange(30_000)}"
        for _ in range(500)
    )
    (tmp_path / f"{name}{suffix}.trace").write_text("\n".join(lines))
    assert drive_accuracy.main([str(tmp_path)]) == 0
    words = capsys.readouterr().out.split()
    assert words[:2] == [f"{name}{suffix}", "demerit"]
    assert 1 < float(words[words.index("simulated") + 1]) < 50


@pytest.mark.parametrize(
    ("count", "message"), [("1000", "Block count = 1000"), ("many", "'many'"), ("5 6", "'5 6'")]
)
@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no measured traces in {TRACES}")
def test_a_wrong_block_count_is_named(count, message, tmp_path):
    name = next(TRACES.glob("*.trace")).stem
    for path in TRACES.glob(f"{name}*"):
        text = re.sub(r"Block count *= *\d+", f"Block count = {count}", path.read_text())
        (tmp_path / path.name).write_text(text)
    with pytest.raises(UsageError) as refused:
        drive_accuracy.replay(tmp_path / f"{name}.trace")
    assert message in str(refused.value.found)


def test_a_line_has_the_demerit_and_the_means():
    import numpy as np

    accuracy = drive_accuracy.Accuracy("x", np.array([8.0, 10.0]), np.array([10.0, 9.0]))
    assert accuracy.line() == "x demerit 7.9 % mean 9.00 ms simulated 9.50 ms"
