"""Tests of the chart library: taken from the build, or bundled."""

import sys

import vl_convert

from iostudy.report.drawing import VEGA_LITE
from iostudy.report.render import html
from iostudy.report.render.html import library_path, read_library
from tools import bundle


def test_a_built_library_needs_no_bundler(tmp_path, monkeypatch):
    built = tmp_path / "built.bundle.js"
    built.write_text("built")
    monkeypatch.setattr(html, "library_path", lambda: built)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert read_library.__wrapped__() == "built"


def test_a_library_that_was_not_built_is_bundled(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "library_path", lambda: tmp_path / "none")
    monkeypatch.setattr(html, "bundle_library", lambda: "bundled")
    assert read_library.__wrapped__() == "bundled"


def test_other_sources_or_another_vega_lite_have_another_library(tmp_path, monkeypatch):
    source = tmp_path / "charts.js"
    source.write_text("draw()")
    before = library_path()
    monkeypatch.setattr(html, "_SOURCE", source)
    changed = library_path()
    monkeypatch.setattr(html, "VEGA_LITE", "v0.1")
    assert len({before, changed, library_path()}) == 3


def test_the_version_of_vega_lite_is_that_of_its_schema_and_of_the_bundle():
    import altair

    assert altair.SCHEMA_VERSION.rpartition(".")[0] == VEGA_LITE
    assert VEGA_LITE.removeprefix("v") in vl_convert.get_vegalite_versions()


def test_the_build_writes_one_library(tmp_path, monkeypatch):
    (tmp_path / "charts-0.bundle.js").touch()
    path = tmp_path / "charts-1.bundle.js"
    monkeypatch.setattr(bundle, "library_path", lambda: path)
    monkeypatch.setattr(bundle, "bundle_library", lambda: "bundled")
    assert bundle.main() == 0
    assert [each.read_text() for each in tmp_path.iterdir()] == ["bundled"]
