"""Client of a Hadoop cluster: command line and environment of a program with one configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Client:
    """A cluster as a job sees it, with the properties of one trial.

    ``conf`` is a folder of site files that hold everything: the cluster's addresses and the trial's
    properties. ``folder`` is the URI of an HDFS folder of the study's own, without a slash at its
    end; ``scratch`` a folder on this machine for what a program writes beside HDFS (result files,
    logs). All that is submitted to YARN carries ``tag``, by which it is found and killed.
    ``require_alive`` raises ClusterError as soon as the cluster cannot bring a job to its end any
    more; it takes less than a millisecond, so it can be asked often.
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

    def command(self, main_class: str, *arguments: str) -> tuple[str, ...]:
        """The program and its arguments; no shell is to see it."""
        classpath = f"{self.conf}:{self.classpath}"
        return (str(self.java), *self.java_options, "-cp", classpath, main_class, *arguments)

    def program_files(self) -> Iterator[Path]:
        """What its programs are read from: the jars, and the files of Java itself."""
        yield from filter(Path.is_file, (self.java.parent.parent / "lib").rglob("*"))
        for entry in self.classpath.split(":"):
            if entry.endswith("/*"):
                yield from Path(entry).parent.glob("*.jar")
            elif Path(entry).is_file():
                yield Path(entry)

    def environment(self) -> Mapping[str, str]:
        """What is put over iostudy's own environment."""
        return {"HADOOP_CONF_DIR": str(self.conf)}
