"""Site files: what was written is read again, and what is final stays."""

import subprocess
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import UsageError
from iostudy_hadoop.conf.configuration import (
    SITE_FILES,
    HadoopConfiguration,
    SiteFile,
    read_site_file,
    require_plain,
    size_bytes,
)
from iostudy_hadoop.conf.site_xml import XmlFile
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java

XI = 'xmlns:xi="http://www.w3.org/2001/XInclude"'
VALUES = st.text(
    st.characters(
        exclude_categories=["Cs"], include_characters="\t\r\n", exclude_characters="\ufffe\uffff"
    ).filter(lambda c: c in "\t\r\n" or c >= " ")
)


def site(folder: Path, name: str, *entries: str) -> Path:
    path = folder / name
    path.write_text(f"<?xml version='1.0'?><configuration {XI}>{''.join(entries)}</configuration>")
    return path


def entry(name: str, value: str, final: str = "") -> str:
    said = f"<final>{final}</final>" if final else ""
    return f"<property><name>{name}</name><value>{value}</value>{said}</property>"


@given(value=VALUES)
def test_any_value_of_the_cluster_is_copied_as_it_was(
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
        HadoopConfiguration.with_all({name: value})
    with pytest.raises(UsageError, match="one line of printable"):
        HadoopConfiguration({}).with_properties({name: value})


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


def include(href: str, *fallback: str) -> str:
    other = f"<xi:fallback>{''.join(fallback)}</xi:fallback>" if fallback else ""
    return f'<xi:include href="{href}">{other}</xi:include>'


NO_HOST = "http://127.0.0.1:1/x"


def entities(folder: Path, *entries: str) -> str:
    return (
        f'<!DOCTYPE configuration SYSTEM "sub/x.dtd" [<!ENTITY t SYSTEM "file:{folder}/sub/t.txt">'
        f'<!ENTITY p SYSTEM "sub/p.xml">]><configuration>{"".join(entries)}</configuration>'
    )


def texts(folder: Path) -> dict[str, str]:
    """Content of core-site.xml by what it tries."""
    held = f"<configuration {XI}>{{}}</configuration>"
    hrefs = {
        "relative": "sub/a.xml",
        "from the conf folder": "sub/more.xml",
        "URL": f"file://{folder}/sub/a.xml",
        "short URL": f"file:{folder}/sub/b%20c.xml",
        "blank": f"{folder}/sub/b c.xml",
        "host": f"FILE://localhost{folder}/sub/a.xml",
    }
    found = {name: held.format(include(href)) for name, href in hrefs.items()}
    return found | {
        "missing": held.format(include("none.xml", entry("c", "3"))),
        "no host": held.format(include(NO_HOST, entry("c", "3"))),
        "entities": entities(folder, "&p;", entry("e", "a &t; &q; b")),
        "lines": held.format(entry("l", "\n a\n\tb&#13;c ") + entry(" s ", " x ")),
        "no prefix": '<configuration><include href="sub/a.xml"/><include/></configuration>',
    }


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    site(tmp_path / "sub", "a.xml", entry("a", "1"))
    site(tmp_path / "sub", "b c.xml", entry("b", "2"))
    site(tmp_path / "sub", "more.xml", include("top.xml"))
    site(tmp_path / "sub", "top.xml", entry("t", "below"))
    site(tmp_path, "top.xml", entry("t", "conf"))
    (tmp_path / "sub" / "t.txt").write_text("some\ntext")
    (tmp_path / "sub" / "p.xml").write_text(entry("p", "4"))
    (tmp_path / "sub" / "x.dtd").write_text('<!ENTITY q "quoted">')
    return tmp_path


# Each is what Hadoop 3.4.2 reads.
PROPERTIES = {
    "relative": {"a": "1"},
    "from the conf folder": {"t": "conf"},
    "URL": {"a": "1"},
    "short URL": {"b": "2"},
    "blank": {"b": "2"},
    "host": {"a": "1"},
    "missing": {"c": "3"},
    "no host": {"c": "3"},
    "entities": {"p": "4", "e": "a some\ntext quoted b"},
    "lines": {"l": "\n a\n\tb\rc ", "s": " x "},
    "no prefix": {"a": "1"},
}


@pytest.mark.parametrize("case", PROPERTIES)
def test_includes_and_entities_are_read_as_by_hadoop(conf: Path, case: str) -> None:
    (conf / "core-site.xml").write_text(texts(conf)[case])
    assert HadoopConfiguration.read(conf).effective() == PROPERTIES[case]


@pytest.mark.child
@pytest.mark.process
@pytest.mark.parametrize(
    "cases", [["entities", "lines"], pytest.param([*PROPERTIES], marks=pytest.mark.slow)]
)
def test_hadoop_itself_reads_the_same(
    conf: Path, java: Java, distribution: Distribution, cases: list[str]
) -> None:
    found = {}
    for case in cases:
        (conf / "core-site.xml").write_text(texts(conf)[case])
        arguments = [str(java.path), "-cp", f"{conf}:{distribution.classpath}"]
        shown = subprocess.run(
            [*arguments, "org.apache.hadoop.conf.Configuration"],
            capture_output=True,
            check=True,
            cwd="/",
        ).stdout
        root = ElementTree.fromstring(shown)
        found[case] = {
            each.findtext("name"): each.findtext("value")
            for each in root
            if each.findtext("source") == "core-site.xml"
        }
    assert found == {case: PROPERTIES[case] for case in cases}


def test_an_author_reads_no_file_of_others_through_iostudy(conf: Path) -> None:
    """As if another user had written the site file, and root read it."""
    path = conf / "core-site.xml"
    path.write_text(entities(conf, "&t;"))
    secret = conf / "sub" / "t.txt"
    secret.chmod(0o600)
    assert XmlFile.of(path).parse().text == "some\ntext"
    with pytest.raises(PermissionError, match=r"uid 4242, whose file .* names it"):
        XmlFile(path, 4242).parse()


@pytest.mark.parametrize("target", ["/dev/zero", "loop"])
def test_only_regular_files_are_read(tmp_path: Path, target: str) -> None:
    path = tmp_path / "core-site.xml"
    (tmp_path / "loop").symlink_to("loop")
    path.write_text(f"<configuration {XI}>{include(target)}</configuration>")
    with pytest.raises(UsageError, match=r"not a regular|levels of symbolic"):
        HadoopConfiguration.read(tmp_path)


@given(st.binary(), st.sampled_from(["{}", "<configuration>{}</configuration>"]))
def test_any_bytes_are_properties_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, around: str
) -> None:
    path = tmp_path_factory.mktemp("conf") / "core-site.xml"
    path.write_bytes(around.encode().replace(b"{}", content))
    with suppress(UsageError):
        read_site_file(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<configuration>", "no XML"),
        ("<settings/>", "<settings> instead"),
        (f'<configuration {XI}><xi:include href="none.xml"/></configuration>', "No such file"),
        (f'<configuration {XI}><xi:include href="http://[x"/></configuration>', "no local file"),
        (f'<configuration {XI}><xi:include href="file:a.xml"/></configuration>', "no local file"),
        (f'<configuration {XI}><xi:include href="../a.xml"/></configuration>', "working directory"),
        ("<?xml version='1.0' encoding='no'?><configuration/>", "unknown encoding"),
        ("<?xml version='1.0' encoding='euc-jp'?><configuration/>", "multi-byte"),
        (
            '<!DOCTYPE c [<!ENTITY e SYSTEM "http://x/y">]><configuration>&e;</configuration>',
            "not a local file",
        ),
        (
            '<!DOCTYPE c [<!ENTITY e SYSTEM "core-site.xml">]><configuration>&e;</configuration>',
            "no XML",
        ),
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
