"""Page of benchmarks: each section is replaced alone, and missed goals are listed."""

import pytest
from benches import __main__ as benches
from benches.ratio import format_ratio


@pytest.mark.all_plugins  # each section is described by its module, which may be a plugin's
def test_a_benchmark_replaces_its_own_section(monkeypatch, tmp_path):
    page = tmp_path / "performance.md"
    monkeypatch.setattr(benches, "_PAGE", page)
    monkeypatch.setattr(benches, "_describe_run", lambda: "Today.")
    missed, reached = (
        format_ratio("fio", [1.0, 1.1, 1.0], [rate, rate + 0.1, rate], 0.75) for rate in (0.5, 1.0)
    )
    benches._write_section("edit_log", f"     16     CPUs     123   {missed}\n", "about")
    benches._write_section("engine", f"write, 1 thread      99   {reached}\n", "about")
    before = page.read_text()
    assert "| `edit_log` | 16 CPUs | 0.5" in before
    assert before.index("## `engine`") < before.index("## `edit_log`")
    benches._write_section("edit_log", f"     16     CPUs     123   {reached}\n", "about")
    assert "| none | | | |" in page.read_text()
    assert page.read_text().count("## `") == 2
