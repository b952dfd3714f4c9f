"""All benchmarks, or those named: ``python -m benches [--write] [NAME...]``.

With ``--write`` the output of a benchmark becomes its section of docs/performance.md; the others
stay. The table of missed goals is read from the page's lines of `benches.ratio`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from iostudy.host.inventory import detect_virtualisation, parse_cpuinfo

_MOUNT = Path(sys.executable).with_name("iostudy-hdfs-mount")
ANYWHERE = (
    *("engine", "iops", "terasort", "wordcount", "metadata", "edit_log", "nnthroughput"),
    *("hadoop_by_hand", "trial_cost", "settings_cost", "iostat_agreement", "watch_cost"),
    *("analysis", "scale", "start_up", "drive_speed", "simulator_speed", "recorder_effect"),
)
AS_ROOT = (
    *("drive_device", "simulator_validation", "block_events", "trace_cost", "trace_replay"),
    *("sampler_cost", "hdfs_mount"),
)

_PAGE = Path(__file__).parents[1] / "docs/performance.md"
_SECTION = re.compile(r"^## `(\w+)`\n\n", re.MULTILINE)
_MISSED = re.compile(
    r"^ *(.+?) {3,}\d.*?([\d.]+ \[[\d., -]+\] to .+?) {2,}(below .+|.+ lies within)$"
)
_HEAD = """# Performance

What `make bench WRITE=1` last printed, by benchmark. Programs of a comparison run in the same
rounds, in an order drawn afresh for each; a ratio stands with its 95 % interval, and above 1
iostudy is better. Each section names commit, versions and machine.

## Goals that were missed, or not shown

| benchmark | case | ratio | goal |
|---|---|---|---|
"""


def main() -> int:
    """Run the benchmarks; 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benches", description="run benchmarks")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    arguments = parser.parse_args()
    possible = (*ANYWHERE, *(AS_ROOT if os.geteuid() == 0 else ()))
    names = arguments.names or [n for n in possible if n != "hdfs_mount" or _MOUNT.exists()]
    if arguments.write and (unknown := set(names) - {*ANYWHERE, *AS_ROOT}):
        parser.error(f"the page has no section of {', '.join(sorted(unknown))}")
    about = _describe_run() if arguments.write else ""
    failed = []
    for name in names:
        print(f"== {name}", flush=True)
        output, code = _run(name)
        if code:
            failed.append(name)
        elif arguments.write:
            _write_section(name, output, about)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(name: str) -> tuple[str, int]:
    """Run a benchmark and show its output at once. Return the output and the exit code."""
    command = [sys.executable, "-m", f"benches.{name}"]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout is not None
        for line in bench.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return "".join(lines), bench.returncode


def _write_section(name: str, output: str, about: str) -> None:
    parts = _SECTION.split(_PAGE.read_text("utf-8"))[1:] if _PAGE.exists() else []
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    summary = (importlib.import_module(f"benches.{name}").__doc__ or "").partition("\n")[0]
    sections[name] = f"{summary}\n{about}\n\n```text\n{output.rstrip()}\n```"
    ordered = {one: sections[one] for one in (*ANYWHERE, *AS_ROOT) if one in sections}
    texts = (f"\n## `{one}`\n\n{text.rstrip()}\n" for one, text in ordered.items())
    rows = "".join(_missed_goals(ordered)) or "| none | | | |\n"
    _PAGE.write_text(f"{_HEAD}{rows}{''.join(texts)}", "utf-8")


def _missed_goals(sections: Mapping[str, str]) -> Iterator[str]:
    for name, text in sections.items():
        for line in text.splitlines():
            if match := _MISSED.match(line):
                case, ratio, judgement = (" ".join(part.split()) for part in match.groups())
                yield f"| `{name}` | {case} | {ratio} | {judgement} |\n"


def _describe_run() -> str:
    cpu = parse_cpuinfo(Path("/proc/cpuinfo").read_text())
    commit = _first_line("git", "describe", "--always", "--dirty")
    return (
        f"{time.strftime('%d %B %Y')}, commit {commit}, "
        f"Linux {platform.release().partition('-')[0]}, "
        f"Python {platform.python_version()}, {_first_line('fio', '--version')}, "
        f"{cpu['count']} CPUs ({cpu['model']}), "
        f"{detect_virtualisation() or 'no virtual machine'}."
    )


def _first_line(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
