"""Missing optional dependencies: what still works, and what the errors name."""

import subprocess
import sys
import textwrap
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from iostudy import extras
from iostudy.errors import UsageError
from iostudy.extras import EXTRAS, require_extra
from iostudy.plugins import installed
from iostudy.report.render.html import library_path

ROOT = Path(__file__).parents[1]

BLOCKED = sorted({name for modules in EXTRAS.values() for name in modules} | {"pandas", "polars"})
SCRIPT = """
import sys
from importlib.abc import MetaPathFinder
from importlib import util

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError("blocked: " + name, name=name)

find_spec = util.find_spec
util.find_spec = lambda name, *rest: None if name in {blocked!r} else find_spec(name, *rest)
sys.meta_path.insert(0, Blocked())
from iostudy.cli.main import main
sys.argv = ["iostudy", *{arguments!r}]
main()
"""


def run_without_extras(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = textwrap.dedent(SCRIPT).format(blocked=BLOCKED, arguments=list(arguments))
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_missing_module_is_an_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    for extra in EXTRAS:
        with pytest.raises(UsageError, match=f"iostudy\\[{extra}\\]"):
            require_extra(extra, "test it")


@pytest.mark.all_plugins
def test_the_package_has_every_extra_with_its_modules():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    with_plugins = sorted({*EXTRAS, *(plugin.name for plugin in installed())})
    assert sorted(optional) == sorted([*with_plugins, "all"])
    assert optional["all"] == [f"iostudy[{','.join(with_plugins)}]"]
    owners = packages_distributions()
    for extra, modules in EXTRAS.items():
        text = " ".join(optional[extra])
        named = {name for module in modules for name in owners.get(module, ())}
        assert all(name in text for name in named), extra


@pytest.mark.child
def test_a_study_runs_and_is_reported_without_any_extra(tmp_path: Path):
    study = tmp_path / "s.yaml"
    study.write_text(
        f"question: q?\ntarget: {tmp_path}\n"
        "factors: {workload.record_size: [1MiB, 64KiB]}\n"
        "workloads: [io: {label: file-reads, files: 1, size: 1MiB}]\n"
        "decide: {blocks: [3, 3]}\n"
    )
    if not library_path().is_file():
        pytest.skip("needs the charts' library of a build (python -m tools.bundle)")
    out = tmp_path / "out"
    done = run_without_extras("run", str(study), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert (out / "report.html").is_file()
    figures = run_without_extras("report", str(out), "--figures", str(tmp_path / "figures"))
    assert figures.returncode == 2
    assert "pip install 'iostudy[figures]'" in figures.stderr
