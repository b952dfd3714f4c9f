"""Client of a Hadoop cluster: command line and environment of a program with one configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Client:
    """A cluster as a job sees it, with the properties of one trial.

    ``conf`` is a folder of site files with the cluster's addresses and the trial's properties.
    ``folder`` is the URI of the study's HDFS folder, without a trailing slash. ``scratch`` is a
    local folder for result files and logs. Every YARN application carries ``tag``, by which
    iostudy finds and kills it. ``entry`` precedes every command, to run it where the cluster is,
    with the ``variables``. ``require_alive`` raises ClusterError once the cluster cannot finish a
    job. It takes less than a millisecond.
    """

    java: Path
    java_options: tuple[str, ...]
    classpath: str
    conf: Path
    folder: str
    scratch: Path
    tag: str
    yarn: bool
    replication: int
    require_alive: Callable[[], None]
    entry: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def command(self, main_class: str, *arguments: str) -> tuple[str, ...]:
        """Return the program and its arguments, to be run without a shell."""
        classpath = f"{self.conf}:{self.classpath}"
        java = (*self.entry, str(self.java), *self.java_options)
        return (*java, "-cp", classpath, main_class, *arguments)

    def program_files(self) -> Iterator[Path]:
        """Return the files that its programs read: the jars and Java's own files."""
        yield from filter(Path.is_file, (self.java.parent.parent / "lib").rglob("*"))
        for entry in self.classpath.split(":"):
            if entry.endswith("/*"):
                yield from Path(entry).parent.glob("*.jar")
            elif Path(entry).is_file():
                yield Path(entry)

    def environment(self) -> Mapping[str, str]:
        """Return the variables that override iostudy's own environment."""
        return {"HADOOP_CONF_DIR": str(self.conf), **self.variables}
