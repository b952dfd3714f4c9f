"""An unpacked Hadoop release in HADOOP_HOME."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError

_FOLDERS = (
    "common",
    "common/lib",
    "hdfs",
    "hdfs/lib",
    "mapreduce",
    "mapreduce/lib",
    "yarn",
    "yarn/lib",
    "yarn/timelineservice",
    "yarn/timelineservice/lib",
)
_COMMON = "common/hadoop-common-"
_NEEDED = (
    "hdfs/hadoop-hdfs-{}.jar",
    "hdfs/hadoop-hdfs-{}-tests.jar",
    "mapreduce/hadoop-mapreduce-client-jobclient-{}.jar",
    "mapreduce/hadoop-mapreduce-client-jobclient-{}-tests.jar",
    "mapreduce/hadoop-mapreduce-examples-{}.jar",
    "yarn/hadoop-yarn-server-resourcemanager-{}.jar",
)


@dataclass(frozen=True)
class Installation:
    """The jars below ``share``, which is HADOOP_HOME/share/hadoop."""

    share: Path
    version: str

    def classpath(self) -> str:
        """Return the class path for ``java -cp``; UsageError names missing jars."""
        needed = (self.share / name.format(self.version) for name in _NEEDED)
        missing = [path.name for path in needed if not path.is_file()]
        if missing:
            raise _refused(self.share, f"it has no {', '.join(missing)}")
        folders = (self.share / name for name in _FOLDERS)
        return ":".join(f"{folder}/*" for folder in folders if folder.is_dir())


def read(home: str) -> Installation:
    """Return the installation in HADOOP_HOME; UsageError if it is not Hadoop."""
    share = Path(home).absolute() / "share/hadoop"
    versions = [
        path.name.removeprefix("hadoop-common-").removesuffix(".jar")
        for path in share.glob(f"{_COMMON}*.jar")
        if not path.stem.endswith("-tests")
    ]
    if len(versions) != 1:
        raise _refused(share, f"{len(versions)} files common/hadoop-common-VERSION.jar")
    return Installation(share, versions[0])


def _refused(share: Path, found: str) -> UsageError:
    return UsageError(
        "an unpacked release of Hadoop, with its tests and examples, in HADOOP_HOME",
        found=found,
        where=str(share),
        remedy="unset HADOOP_HOME, and Maven fetches Hadoop; or name a whole release there",
    )
