"""A change for tests: the text of a file, with the rules of a real one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from iostudy.errors import RestoreError, SettingError
from iostudy.settings.change import ConflictPolicy


@dataclass(frozen=True)
class FileNote:
    """``path`` holds ``before`` and is to hold ``after``; ``refused`` is never taken."""

    kind: ClassVar[str] = "note"

    path: str
    before: str
    after: str
    refused: str = "never"

    @classmethod
    def prepare(cls, path: Path, after: str) -> Self:
        return cls(str(path), path.read_text(), after)

    @classmethod
    def from_record(cls, record: Any) -> Self:
        return cls(**record)

    def record(self) -> dict[str, Any]:
        return asdict(self)

    def describe(self) -> str:
        return f"{self.path}: {self.before} -> {self.after}"

    def apply(self) -> None:
        if self.after == self.refused:
            raise SettingError("to write", found="refused", where=self.path, remedy="another text")
        Path(self.path).write_text(self.after)

    def affected_resources(self) -> tuple[str, ...]:
        return ()

    def undo(self, policy: ConflictPolicy = ConflictPolicy.REPORT) -> tuple[str, ...]:
        now = Path(self.path).read_text()
        if now == self.before:
            return ()
        if now != self.after and policy is ConflictPolicy.REPORT:
            raise RestoreError("to restore", found=now, where=self.path, remedy="--force")
        if now != self.after and policy is ConflictPolicy.ACCEPT:
            return (f"{Path(self.path).name}: left at {now}",)
        Path(self.path).write_text(self.before)
        return (f"{Path(self.path).name}: {now} -> {self.before}",)
