"""A virtual machine with the storage that this host's kernel may lack.

It runs a Debian kernel (``tools/need-kernel``) on this host's own files, which it sees read only
below a layer in memory: the packages installed here, this checkout and its ``.venv``. Nothing it
does stays. Not virtme-ng, which does the same: it boots for one command, or wants an ssh server.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
KERNEL = CHECKOUT / "target/vm"
GUEST = Path(__file__).parent / "guest"
QEMU = "qemu-system-x86_64"
BUSYBOX = Path("/bin/busybox")
GIB = 1 << 30

TO_BOOT = ("virtio_pci", "virtio_console", "virtio_scsi", "sd_mod", "9pnet_virtio", "9p", "overlay")
SHARED = "security_model=none,readonly=on,multidevs=remap"
BOOT_SECONDS = 600
COMMAND_SECONDS = 600


@dataclass(frozen=True)
class Disk:
    """A SCSI disk, or one on NVMe; SCSI disks that share an image are paths to one disk.

    With a ``device`` it has the data of that block device of the host.
    """

    serial: str
    rotation_rate: int = 7200
    image: str = ""
    size_bytes: int = GIB
    is_nvme: bool = False
    device: Path | None = None

    @property
    def file(self) -> str:
        """The name of its image."""
        return self.image or self.serial


@dataclass(frozen=True)
class Result:
    """What came of a command."""

    argv: Sequence[str]
    returncode: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        return f"$ {shlex.join(self.argv)}\n{self.stdout}{self.stderr}[{self.returncode}]"


@dataclass(frozen=True)
class Machine:
    """A running guest."""

    agent: Channel
    monitor: Channel

    def run(
        self, *argv: str, text: str = "", check: bool = True, seconds: float = COMMAND_SECONDS
    ) -> Result:
        """What came of a command in the guest, in the checkout; AssertionError if it failed.

        After ``seconds`` it is killed with SIGKILL.
        """
        self.agent.socket.settimeout(BOOT_SECONDS + seconds)
        answer = self.agent.ask(argv=argv, seconds=seconds, text=text)
        result = Result(argv, **answer)
        assert not check or result.returncode == 0, str(result)
        return result

    def iostudy(self, *arguments: str, **options: Any) -> Result:
        """What came of a command of the program."""
        return self.run("iostudy", *arguments, **options)

    def shell(self, script: str, **options: Any) -> str:
        """The standard output of a shell script in the guest, which ends at its first failure."""
        return self.run("sh", "-eu", text=script, **options).stdout

    def qmp(self, command: str, **arguments: Any) -> Any:
        """What QEMU answers to a command of its machine protocol."""
        answer = self.monitor.ask(execute=command, arguments=arguments)
        while "event" in answer:
            answer = self.monitor.hear()
        assert "return" in answer, answer
        return answer["return"]


@dataclass
class Channel:
    """Lines of JSON to and fro through a socket."""

    socket: socket.socket
    stream: Any = field(init=False)

    def __post_init__(self) -> None:
        self.stream = self.socket.makefile("rwb")

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request."""
        self.stream.write(json.dumps(request).encode() + b"\n")
        self.stream.flush()
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """What is said next; ConnectionError if the guest has ended."""
        line = self.stream.readline()
        if not line:
            raise ConnectionError("the virtual machine has ended")
        message: dict[str, Any] = json.loads(line)
        return message


def find_missing_requirement() -> str | None:
    """Why there can be no virtual machine here, None if there can."""
    for tool in (QEMU, "busybox", "lvm", "mdadm", "multipath", "exportfs"):
        if shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            return f"needs {tool}; `make vm` installs it"
    return None if (KERNEL / "vmlinux").exists() else "needs a kernel; `make vm` unpacks it"


@contextmanager
def booted(disks: Sequence[Disk]) -> Iterator[Machine]:
    """A machine with these disks, ready for commands, and gone afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="iostudy-vm-")))
        listeners = {name: _listen(stack, folder / name) for name in ("agent", "monitor")}
        console = folder / "console"
        command = [*_machine(folder), *_disks(disks, folder)]
        with console.open("wb") as log:
            qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        stack.callback(qemu.wait)
        stack.callback(qemu.kill)
        try:
            yield _connected(stack, listeners)
        except OSError as error:
            error.add_note(console.read_text(errors="replace")[-3000:])
            raise


def _listen(stack: ExitStack, path: Path) -> socket.socket:
    listener = stack.enter_context(socket.socket(socket.AF_UNIX))
    listener.bind(str(path))
    listener.listen()
    listener.settimeout(BOOT_SECONDS)
    return listener


def _connected(stack: ExitStack, listeners: dict[str, socket.socket]) -> Machine:
    channels = {}
    for name, listener in listeners.items():
        connection = stack.enter_context(listener.accept()[0])
        connection.settimeout(BOOT_SECONDS + COMMAND_SECONDS)
        channels[name] = Channel(connection)
    machine = Machine(**channels)
    machine.monitor.hear()  # QEMU's greeting
    machine.qmp("qmp_capabilities")
    machine.run("true")
    return machine


def _machine(folder: Path) -> list[str]:
    """Two processors, each a NUMA node with memory of its own."""
    command = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2G"]
    for node in range(2):
        command += ["-object", f"memory-backend-ram,id=memory{node},size=1G"]
        command += ["-numa", f"node,cpus={node},memdev=memory{node}"]
    command += ["-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"]
    command += ["-kernel", str(KERNEL / "vmlinux"), "-initrd", str(_initramfs(folder))]
    command += ["-append", f"quiet console=ttyS0 panic=-1 checkout={CHECKOUT}"]
    command += ["-virtfs", f"local,path=/,mount_tag=host,{SHARED}", "-device", "virtio-serial-pci"]
    command += ["-device", "virtserialport,chardev=agent,name=agent"]
    command += ["-chardev", f"socket,id=agent,path={folder}/agent"]
    command += ["-chardev", f"socket,id=monitor,path={folder}/monitor", "-qmp", "chardev:monitor"]
    return [*command, "-device", "virtio-scsi-pci"]


def _disks(disks: Sequence[Disk], folder: Path) -> list[str]:
    command = []
    for number, disk in enumerate(disks):
        drive = f"if=none,format=raw,file.locking=off,id=drive{number},{_storage(disk, folder)}"
        command += ["-drive", drive]
        command += (_nvme if disk.is_nvme else _scsi)(disk, f"drive{number}")
    return command


def _storage(disk: Disk, folder: Path) -> str:
    """The file or device below a disk; a device gets all requests, past the page cache."""
    if disk.device is not None:
        return f"cache=none,file={disk.device}"
    image = folder / disk.file
    image.touch()
    os.truncate(image, disk.size_bytes)
    return f"cache=unsafe,file={image}"


def _nvme(disk: Disk, drive: str) -> list[str]:
    """A disk that may have several controllers, as those of servers may, and has one."""
    subsystem = f"nvme-subsys,id=subsystem-{disk.serial}"
    controller = f"nvme,id={disk.serial},serial={disk.serial},subsys=subsystem-{disk.serial}"
    namespace = f"nvme-ns,drive={drive},bus={disk.serial},shared=on"
    return ["-device", subsystem, "-device", controller, "-device", namespace]


def _scsi(disk: Disk, drive: str) -> list[str]:
    """The world-wide name comes from the image: paths to one disk have one."""
    wwn = 0x5000_0000_0000_0000 + int.from_bytes(disk.file.encode()[-5:])
    device = f"scsi-hd,drive={drive},id={disk.serial},serial={disk.file},wwn={wwn:#x}"
    return ["-device", f"{device},rotation_rate={disk.rotation_rate},share-rw=on"]


def _initramfs(folder: Path) -> Path:
    """Busybox, the modules that reach the host's files, and the program that does so."""
    tree = folder / "initramfs"
    for name in ("bin", "modules", "proc"):
        (tree / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, tree / "bin")
    shutil.copy(GUEST / "init", tree)
    (tree / "init").chmod(0o755)
    order = []
    for module in _modules():
        shutil.copy(module, tree / "modules")
        order.append(f"/modules/{module.name}\n")
    (tree / "modules/order").write_text("".join(order))
    image = folder / "initramfs.cpio"
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with image.open("wb") as file:
        pack = [str(BUSYBOX), "cpio", "-o", "-H", "newc"]
        subprocess.run(
            pack, cwd=tree, input=names.encode(), stdout=file, stderr=subprocess.PIPE, check=True
        )
    return image


def _modules() -> list[Path]:
    """The files of the modules to boot with, each after those it needs."""
    (modules,) = (KERNEL / "lib/modules").iterdir()
    command = ["/sbin/modprobe", "--dirname", str(KERNEL), "--set-version", modules.name]
    command += ["--show-depends", "--all", *TO_BOOT]
    listed = subprocess.check_output(command, text=True).splitlines()
    files = (line.split()[1] for line in listed if line.startswith("insmod"))
    return [Path(file) for file in dict.fromkeys(files)]
