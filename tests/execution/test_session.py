"""Circumstances under which a study may be resumed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iostudy.errors import UsageError
from iostudy.execution.session import refuse_other_circumstances
from iostudy.ledger.studies import FILES, NODES
from tests.execution.test_runner import TEXT, conduct
from tests.fake_node import Disturbance, FakeNode


def on_kernel(release: str) -> dict[str, Any]:
    return {"host": {"kernel": {"release": release}}}


def test_another_kernel_is_refused():
    refuse_other_circumstances(on_kernel("6.1"), on_kernel("6.1"))
    with pytest.raises(UsageError, match=r"host kernel release was 6.1 and is 6.2"):
        refuse_other_circumstances(on_kernel("6.1"), on_kernel("6.2"))


def test_of_nodes_that_run_together_each_is_compared_with_itself():
    began = {**on_kernel("6.1"), NODES: {"a": on_kernel("6.1"), "b": on_kernel("6.2")}}
    without_first = {**on_kernel("6.2"), NODES: {"b": on_kernel("6.2"), "new": on_kernel("6.3")}}
    refuse_other_circumstances(began, without_first)
    newer = {**began, NODES: {"c": {"versions": {"iostudy": "2"}}}}
    with pytest.raises(UsageError, match=r"(?s)^c.*versions iostudy was None and is 2"):
        refuse_other_circumstances(began, newer)
    changed = {**on_kernel("6.1"), NODES: {"a": on_kernel("6.1"), "b": on_kernel("6.1")}}
    with pytest.raises(UsageError, match=r"(?s)^b.*was 6.2 and is 6.1"):
        refuse_other_circumstances(began, changed)


def with_job(digest: str) -> dict[str, Any]:
    return {FILES: {"db.fio": digest}}


def test_another_file_that_the_study_names_is_refused():
    refuse_other_circumstances(with_job("1"), with_job("1"))
    with pytest.raises(UsageError, match=r"(?s)^db\.fio\n.*SHA-256 was 1 and is 2"):
        refuse_other_circumstances(with_job("1"), with_job("2"))
    nodes = {NODES: {"a": with_job("1")}}
    with pytest.raises(UsageError, match=r"^db\.fio on a\n"):
        refuse_other_circumstances(nodes, {NODES: {"a": with_job("2")}})


def test_a_ledger_of_a_version_without_digests_of_files():
    refuse_other_circumstances({}, with_job("1"))
    refuse_other_circumstances({NODES: {"a": {}}}, {NODES: {"a": with_job("1")}})


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[str]:
    """The text of a study of two jobs that was stopped in its second block."""
    (tmp_path / "db.fio").write_text("[db]\nsize=1m\n")
    (tmp_path / "included.fio").write_text("size=1m\n")
    (tmp_path / "log.fio").write_text("[log]\ninclude included.fio\n")
    jobs = ", ".join(f"{{fio: {{label: {n}, job: {tmp_path}/{n}.fio}}}}" for n in ("db", "log"))
    text = "\n".join(
        f"workloads: [{jobs}]" if line.startswith("workloads") else line
        for line in TEXT.splitlines()
    )
    node = FakeNode(script={8: Disturbance(error=KeyboardInterrupt())})
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path / "out", node, text=text)
    yield text


@pytest.mark.child
@pytest.mark.parametrize(("changed", "named"), [("db", "db"), ("included", "log")])
def test_a_job_that_was_changed_meanwhile_is_refused(
    tmp_path: Path, stopped: str, changed: str, named: str
):
    file = tmp_path / f"{changed}.fio"
    original = file.read_text()
    file.write_text(original.replace("1m", "2m"))
    with pytest.raises(UsageError, match=rf"(?s)/{named}\.fio\n.*this one has changed"):
        conduct(tmp_path / "out", FakeNode(), text=stopped, resume=True, seed=None)
    file.write_text(f"# as before\n{original}")
    assert conduct(tmp_path / "out", FakeNode(), text=stopped, resume=True, seed=None)
