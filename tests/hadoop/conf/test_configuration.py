"""Site files: what was written is read again, and what is final stays."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import UsageError
from iostudy.hadoop.conf.configuration import (
    SITE_FILES,
    HadoopConfiguration,
    SiteFile,
    read_site_file,
    require_plain,
    size_bytes,
)

XI = 'xmlns:xi="http://www.w3.org/2001/XInclude"'
PRINTABLE = st.text().filter(str.isprintable)


def site(folder: Path, name: str, *entries: str) -> Path:
    path = folder / name
    path.write_text(f"<?xml version='1.0'?><configuration {XI}>{''.join(entries)}</configuration>")
    return path


def entry(name: str, value: str, final: str = "") -> str:
    said = f"<final>{final}</final>" if final else ""
    return f"<property><name>{name}</name><value>{value}</value>{said}</property>"


@given(value=PRINTABLE)
def test_any_printable_value_is_read_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, value: str
) -> None:
    path = tmp_path_factory.mktemp("conf") / "core-site.xml"
    path.write_bytes(SiteFile({"a.b": value}, frozenset({"a.b"})).render())
    assert read_site_file(path) == SiteFile({"a.b": value}, frozenset({"a.b"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("a", "1\n2"), ("a", "\x00"), ("a", "\ud800"), ("", "1"), ("a b", "1"), ("a\n", "1")],
)
def test_values_that_xml_cannot_hold_are_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError, match="one line of printable"):
        require_plain(name, value)
    with pytest.raises(UsageError, match="one line of printable"):
        SiteFile({name: value}).render()


def test_every_file_says_the_same(tmp_path: Path) -> None:
    HadoopConfiguration.with_all({"dfs.blocksize": "64m"}).write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(SITE_FILES)
    read = HadoopConfiguration.read(tmp_path)
    assert all(site.properties == {"dfs.blocksize": "64m"} for site in read.files.values())


def test_a_later_file_wins_but_not_over_what_is_final(tmp_path: Path) -> None:
    site(tmp_path, "core-site.xml", entry("a", "1"), entry("b", "1", "true"))
    site(tmp_path, "yarn-site.xml", entry("a", "2"), entry("b", "2"))
    conf = HadoopConfiguration.read(tmp_path)
    assert conf.effective() == {"a": "2", "b": "1"}
    assert conf.final() == {"b": "core-site.xml"}


def test_a_trial_s_property_is_in_every_file_and_the_user_s_others_stay(tmp_path: Path) -> None:
    site(tmp_path, "hdfs-site.xml", entry("dfs.blocksize", "128m"), entry("b", "1", "true"))
    conf = HadoopConfiguration.read(tmp_path).with_properties({"dfs.blocksize": "64m", "b": "1"})
    assert set(conf.files) == set(SITE_FILES)
    assert {each.properties["dfs.blocksize"] for each in conf.files.values()} == {"64m"}
    assert conf.final() == {"b": "hdfs-site.xml"}


def test_a_final_property_is_not_overridden(tmp_path: Path) -> None:
    site(tmp_path, "hdfs-site.xml", entry("dfs.blocksize", "128m", "true"))
    with pytest.raises(UsageError, match="it is 128m, and final") as caught:
        HadoopConfiguration.read(tmp_path).with_properties({"dfs.blocksize": "64m"})
    assert caught.value.where == "hdfs-site.xml"


def test_hadoop_s_other_ways_to_write_a_property(tmp_path: Path) -> None:
    nested = f"<configuration>{entry(' c ', ' 3 ')}</configuration>"
    attributes = '<property name="d" value="4" final="true"/>'
    unset = "<property><name>e</name></property>"
    path = site(tmp_path, "core-site.xml", nested, attributes, unset, entry("d", "5"))
    assert read_site_file(path) == SiteFile({"c": " 3 ", "d": "4"}, frozenset({"d"}))


def test_included_files_are_relative_to_the_including_file(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    site(tmp_path / "more", "a.xml", entry("a", "1"), '<xi:include href="b.xml"/>')
    site(tmp_path / "more", "b.xml", entry("b", "2"))
    missing = '<xi:include href="none.xml"><xi:fallback>{}</xi:fallback></xi:include>'
    path = site(
        tmp_path,
        "core-site.xml",
        '<xi:include href="more/a.xml"/>',
        missing.format(entry("c", "3")),
    )
    assert read_site_file(path).properties == {"a": "1", "b": "2", "c": "3"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<configuration>", "no XML"),
        ("<settings/>", "<settings> instead"),
        (f'<configuration {XI}><xi:include href="none.xml"/></configuration>', "No such file"),
        (f'<configuration {XI}><xi:include href="http://x/y"/></configuration>', "more than a"),
        (f'<configuration {XI}><xi:include href="core-site.xml"/></configuration>', "never end"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "core-site.xml").write_text(text)
    with pytest.raises(UsageError, match=words) as caught:
        HadoopConfiguration.read(tmp_path)
    assert caught.value.where.startswith(str(tmp_path))


def test_a_folder_without_site_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none of them"):
        HadoopConfiguration.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("1048576", 1 << 20), (" 64M ", 64 << 20), ("1k", 1024)]
)
def test_sizes_of_properties(text: str, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "m", "1.5m", "${dfs.blocksize}", "-1", "1mb"])
def test_invalid_sizes_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="such as 134217728 or 128m"):
        size_bytes(text)
