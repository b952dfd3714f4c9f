"""Readings as text: nothing is lost, nothing is cut, and whoever reads iostat's reads ours."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from iostudy.settings.transaction.deferred_signals import run_or_defer
from iostudy.telemetry.iostat import EXTENDED_FIGURES, OLD_FIGURES
from iostudy_watch.csv import Csv
from iostudy_watch.iostat_json import IostatJson
from iostudy_watch.output_format import write_readings
from iostudy_watch.plain import PlainText
from tests.plugins.watch import of_devices
from tests.plugins.watch.factory import CPU, DAY, HOST, reading

needs_iostat = pytest.mark.skipif(not shutil.which("iostat"), reason="sysstat is not installed")


def text(form, *readings) -> str:
    written: list[str] = []
    write_readings(form, readings, written.append)
    return "".join(written)


def statistics(document):
    (host,) = json.loads(document)["sysstat"]["hosts"]
    return host["statistics"]


def shape(document: str) -> list[str]:
    """Its lines without their values; those of further readings are left out."""
    numbers = re.sub(r"-?\d+(\.\d+)?(?=[,}\n])", "0", document)
    return list(dict.fromkeys(re.sub(r': "[^"]*"', ': ""', numbers).splitlines()))


@pytest.mark.child
@needs_iostat
def test_the_document_is_that_of_iostat_but_for_values():
    disk = Path("/proc/diskstats").read_text().split()[2]
    command = ["iostat", "-xt", "-o", "JSON", "1", "2", disk]
    iostat = subprocess.check_output(command, text=True, env=os.environ | {"S_TIME_FORMAT": "ISO"})
    own = reading()
    del own.devices["dm-2"], own.summary.devices["dm-2"]
    assert shape(text(IostatJson(HOST, DAY), own, own)) == shape(iostat)


def test_json_has_the_values_and_what_people_call_a_device():
    first, second = statistics(text(IostatJson(HOST, DAY), reading(1), reading(2)))
    assert first["timestamp"] == "2026-11-22T07:00:01+0000"
    assert second["timestamp"] == "2026-11-22T07:00:02+0000"
    assert first["avg-cpu"] == {name.removeprefix("%"): share for name, share in CPU.items()}
    volume, disk = first["disk"]
    assert (volume["disk_device"], volume["called"]) == ("dm-2", "vg0/home")
    assert disk["wkB/s"] == 204800
    assert disk["util"] == 50
    assert not {"called", *OLD_FIGURES} & set(disk)


def test_json_is_closed_without_a_reading():
    assert statistics(text(IostatJson(HOST, DAY))) == []


def test_a_signal_between_two_readings_or_within_one_leaves_valid_json():
    written: list[str] = []

    def write(piece: str) -> None:
        half = len(piece) // 2
        written.append(piece[:half])
        if len(written) == 3:
            run_or_defer(interrupt)
        written.append(piece[half:])

    with pytest.raises(KeyboardInterrupt):
        write_readings(IostatJson(HOST, DAY), iter([reading(1), reading(2)]), write)
    assert len(statistics("".join(written))) == 1


def interrupt() -> None:
    raise KeyboardInterrupt


def test_csv_has_a_row_for_each_device_and_interval():
    rows = list(csv.DictReader(io.StringIO(text(Csv(), reading(1), reading(2)))))
    assert [row["device"] for row in rows] == ["dm-2", "sda"] * 2
    assert [row["called"] for row in rows] == ["vg0/home", "sda"] * 2
    assert rows[2]["time"] == "2026-11-22T07:00:02.000+00:00"
    assert list(rows[0])[4:] == list(EXTENDED_FIGURES)
    assert rows[0]["wareq-sz"] == "2048.00"


def test_old_figures_are_optional():
    assert text(Csv(old=True)).strip().endswith(",".join(OLD_FIGURES))
    (output,) = statistics(text(IostatJson(HOST, DAY, old=True), reading()))
    assert output["disk"][0]["avgrq-sz"] == 4096
    assert PlainText(HOST, DAY, old=True).reading(reading()).count("svctm") == 1


def test_plain_lines_are_aligned_and_headed_each_time():
    output = text(PlainText(HOST, DAY), reading(1), reading(2))
    assert output.startswith("Linux 6.1.0 (node7) \t2026-11-22 \t_x86_64_\t(40 CPU)\n\n")
    lines = output.splitlines()
    heads = [line for line in lines if line.startswith("Device")]
    assert heads[0].split() == ["Device", *EXTENDED_FIGURES]
    assert len(heads) == 2
    devices = [line for line in lines if line.startswith(("vg0/home", "sda"))]
    assert len(devices) == 4
    assert {len(line) for line in (*heads, *devices)} == {len(heads[0])}
    assert lines[lines.index(heads[0]) - 2].split() == [f"{share:.2f}" for share in CPU.values()]


def test_merges_below_a_volume_are_reported():
    merged = reading()
    assert "reached" not in PlainText(HOST, DAY).reading(merged)
    merged.summary.devices["sda"].update({"w/s": 10.0, "wrqm/s": 90.0})
    output = PlainText(HOST, DAY).reading(merged)
    sentence = "100 writes/s reached vg0/home; 100/s reached sda, merged 10.0:1 into 10/s.\n\n"
    assert output.endswith(sentence)


def test_disks_below_partitions_are_reported():
    output = PlainText(HOST, DAY).reading(of_devices.reading(of_devices.STACK, of_devices.UTILS))
    assert (
        "690 writes/s reached vg0/home; 700/s reached md/data; "
        "1,450/s reached 2 devices below, 2.1 for each one above."
    ) in output


@pytest.mark.child
@needs_iostat
def test_column_heads_align_as_in_iostat():
    iostat = subprocess.check_output(["iostat", "-xk"], text=True).splitlines()
    heads = [line for line in iostat if line.startswith(("avg-cpu", "Device"))]
    own = reading()
    for figures in own.summary.devices.values():
        figures.update(dict.fromkeys(EXTENDED_FIGURES, 0.0))
    output = PlainText(HOST, DAY).reading(own).splitlines()
    assert [line for line in output if line.startswith(("avg-cpu", "Device"))] == heads


def test_without_shares_of_cpu_time_there_is_no_part_for_them():
    assert "avg-cpu" not in PlainText(HOST, DAY).reading(reading(machine={}))
    (output,) = statistics(text(IostatJson(HOST, DAY), reading(machine={})))
    assert "avg-cpu" not in output
