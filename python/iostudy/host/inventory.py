"""Inventory of the host as plain JSON values, the circumstances of a measurement."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iostudy.host import devices, mounts
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute, read_text
from iostudy.host.mounts import Mount
from iostudy.units import KIB
from iostudy.visible import visible

_BALLOON, _REPORTING = "0x0005", 5
_CONTROL_PROGRAM = r"^VM00 Control Program:\s*(.*\S)"
"""The hypervisor directly below a guest of s390x (the kernel's arch/s390/kernel/sysinfo.c)."""
_VIRTUAL_FIRMWARE = re.compile(
    r"\b(QEMU|KVM|KubeVirt|OpenStack|VMware|VirtualBox|Xen|Parallels|BHYVE|Virtual Machine|vServer"
    r"|Apple Virtualization|Google Compute Engine|Amazon EC2(?! \S+\.metal))\b"
)
"""DMI names that hypervisors give their machines; some clouds rent bare metal as well."""
_MODELLED_MACHINES = {"linux,dummy-virt", "qemu,pseries"}
"""Machines of QEMU by the ``compatible`` of their device tree."""


def collect_inventory(places: Iterable[Path] = (), root: Path = ROOT) -> Mapping[str, Any]:
    """Return names of host, kernel and CPU, memory, virtualisation, cgroups, disks and mounts.

    ``places`` are the directories whose mounts are included. Sizes are in bytes; queue settings
    are the kernel's texts. None stands for unknown values.
    """
    proc = root / "proc"
    return {
        "hostname": read_text(proc / "sys/kernel/hostname"),
        "kernel": {
            "release": read_text(proc / "sys/kernel/osrelease"),
            "version": read_text(proc / "sys/kernel/version"),
        },
        "distribution": read_distribution(root),
        "cpu": parse_cpuinfo(read_text(proc / "cpuinfo") or ""),
        "memory_bytes": read_memory_bytes("MemTotal", root),
        "virtualisation": detect_virtualisation(root),
        "free_page_reporting": detect_free_page_reporting(root),
        "cgroups": detect_cgroup_version(mounts.read_mounts(root)),
        "block_devices": {d.name: describe_device(d, root) for d in devices.read_disks(root)},
        "mounts": {str(place): _describe_mount(place) for place in places},
    }


def read_distribution(root: Path = ROOT) -> str | None:
    """Return PRETTY_NAME of os-release(5); a value that is no word of a shell as it is."""
    text = read_text(root / "etc/os-release") or read_text(root / "usr/lib/os-release")
    match = re.search(r"""^PRETTY_NAME=(["']?)(.*)\1\s*$""", text or "", re.MULTILINE)
    return re.sub(r"\\([\\\"'$`])", r"\1", match[2]) if match else None


def parse_cpuinfo(text: str) -> dict[str, Any]:
    """Return model and number of logical CPUs of ``/proc/cpuinfo``; None for what it lacks.

    The form is that of the architecture: ``processor 0: version = FF`` on s390x, ``cpu`` and
    ``ncpus active`` on sparc and POWER. 64-bit ARM gives no model.
    """
    names = ("model name", "Model Name", "cpu model", "cpu", "uarch", "Hardware", "vendor_id")
    models = (re.search(rf"^{name}\s*:\s*(.*)$", text, re.MULTILINE) for name in names)
    active = re.search(r"^n?cpus active\s*:\s*([0-9]+)$", text, re.MULTILINE)
    count = len(re.findall(r"^processor\s*[0-9]*\s*:", text, re.MULTILINE))
    return {
        "model": next((model[1] for model in models if model), None),
        "count": count or (int(active[1]) if active else None),
    }


def read_memory_bytes(name: str, root: Path = ROOT) -> int | None:
    """MemTotal, MemFree or another value of ``/proc/meminfo``, which the kernel gives in KiB."""
    text = read_attribute(root / "proc/meminfo") or ""
    match = re.search(rf"^{name}:\s*(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) * KIB if match else None


def detect_virtualisation(root: Path = ROOT) -> str | None:
    """Return the name of a virtual machine by its firmware or hypervisor; None on bare metal.

    An x86 processor says whether it is virtual (CPUID). Elsewhere texts of the hypervisor say it:
    ``VM00`` of ``/proc/sysinfo`` on s390x, the device tree and DMI on ARM.
    """
    dmi = root / "sys/class/dmi/id"
    names = (read_text(dmi / name) for name in ("sys_vendor", "product_name"))
    firmware = " ".join(filter(None, names))
    flags = re.search(r"^flags\s*:(.*)$", read_attribute(root / "proc/cpuinfo") or "", re.MULTILINE)
    if flags is not None:
        is_virtual = "hypervisor" in flags[1].split()
        return (firmware or "a virtual machine of unknown make") if is_virtual else None
    control = re.search(_CONTROL_PROGRAM, read_text(root / "proc/sysinfo") or "", re.MULTILINE)
    if control is not None:
        return control[1]
    if _VIRTUAL_FIRMWARE.search(firmware):
        return firmware
    return _read_device_tree_hypervisor(root / "proc/device-tree")


def _read_device_tree_hypervisor(tree: Path) -> str | None:
    """Return the hypervisor's node, or a machine that exists as a model only."""
    node, machine = (
        (read_attribute(tree / name) or "").rstrip("\0").replace("\0", " ")
        for name in ("hypervisor/compatible", "compatible")
    )
    return visible(node or machine) if node or machine in _MODELLED_MACHINES else None


def detect_free_page_reporting(root: Path = ROOT) -> bool:
    """Whether a virtio balloon gives free memory back to the host: feature 5 of device type 5.

    Source: virtio 1.2, 5.5; the kernel prints the features from bit 0 (drivers/virtio/virtio.c).
    """
    balloons = (
        read_attribute(device / "features") or ""
        for device in (root / "sys/bus/virtio/devices").glob("*")
        if read_attribute(device / "device") == _BALLOON
    )
    return any(features[_REPORTING : _REPORTING + 1] == "1" for features in balloons)


def detect_cgroup_version(mounted: Iterable[Mount]) -> str | None:
    """Return ``v1``, ``v2`` or ``hybrid`` (v1 controllers, a v2 tree); None without cgroups."""
    types = {mount.filesystem for mount in mounted} & {"cgroup", "cgroup2"}
    return {1: "v1" if "cgroup" in types else "v2", 2: "hybrid"}.get(len(types))


def describe_device(device: BlockDevice, root: Path = ROOT) -> dict[str, Any]:
    """A device's own values, its firmware and every queue attribute as found."""
    values = {
        k: visible(str(v)) if isinstance(v, Path | str) else v for k, v in asdict(device).items()
    }
    folder = devices.class_folder(device.disk, root) / "device"
    # Of NVMe (nvme-sysfs), else of SCSI and ATA.
    revisions = (read_text(folder / name) for name in ("firmware_rev", "rev"))
    firmware = next((text.strip() for text in revisions if text), None)
    return {**values, "firmware": firmware, "queue": read_queue(device, root)}


def read_queue(device: BlockDevice, root: Path = ROOT) -> dict[str, str]:
    """Return every readable attribute of the device's queue and of its scheduler.

    Another program may switch the scheduler meanwhile, so its folder may vanish.
    """
    folder = devices.queue_folder(device, root)
    files = sorted(Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
    texts = {str(path.relative_to(folder)): read_text(path) for path in files}
    return {name: text.strip() for name, text in texts.items() if text is not None}


def _describe_mount(place: Path) -> dict[str, Any] | None:
    """Return the mount of a directory; None for a missing one, and in a chroot without a mount."""
    try:
        mount = mounts.find_mount(place)
    except FileNotFoundError:
        return None
    return {
        "point": str(mount.point),
        "source": mount.source,
        "filesystem": mount.filesystem,
        "options": [*mount.options, *mount.super_options],
    }
