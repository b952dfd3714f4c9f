"""Nodes in network namespaces of this machine, each with a real sshd; as root."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.plugins.fleet.hosts import AGENT, SUPERVISOR, kill_processes
from tests.plugins.fleet.slow_link import open_tap
from tests.shared_resources import hold

BRIDGE = "iofleet0"
NETWORK = "10.231.77"
SSHD = "/usr/sbin/sshd"
HANG_GUARD_SECONDS = 300
needs_sshd = pytest.mark.skipif(
    not (Path(SSHD).exists() and shutil.which("ip")), reason="needs openssh-server and iproute2"
)
NO_OFFSETS: Mapping[str, int] = {}
CONFIG = """\
Port 22
ListenAddress ADDRESS
HostKey HOST_KEY
AuthorizedKeysFile AUTHORIZED
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
SetEnv VARIABLES
"""


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


class Namespaces:
    """A bridge of the controller, and nodes behind it by name.

    ``clocks`` are seconds by which the monotonic clock of a node is ahead (time_namespaces(7)).
    """

    def __init__(
        self, folder: Path, names: tuple[str, ...], clocks: Mapping[str, int] = NO_OFFSETS
    ) -> None:
        self.folder = folder
        self.clocks = clocks
        self.names = names
        self._held = ExitStack()
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._key = folder / "key"
        self._addresses = {
            name: f"{NETWORK}.{number}" for number, name in enumerate(names, start=2)
        }

    def start(self) -> Path:
        """Start all nodes, wait for their sshd, and return their inventory.

        It waits until no other run of tests has such nodes.
        """
        self._held.enter_context(hold("fleet-network"))
        self._held.callback(self._remove)
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "address", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for key in (self._key, self.folder / "host_key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
        public = (self.folder / "host_key.pub").read_text()
        lines, known = ["[nodes]\n"], []
        for name, address in self._addresses.items():
            self._start_node(name, address)
            lines.append(f"{name} ansible_host={address}\n")
            known.append(f"{address} {public}")
        (self.folder / "known_hosts").write_text("".join(known))
        options = f"-F none -o UserKnownHostsFile={self.folder / 'known_hosts'}"
        lines += ["[nodes:vars]\n", f"ansible_ssh_private_key_file={self._key}\n"]
        lines += ["ansible_user=root\n", f"ansible_ssh_common_args='{options}'\n"]
        lines.append(f"iostudy_python={sys.executable}\n")
        inventory = self.folder / "inventory"
        inventory.write_text("".join(lines))
        for address in self._addresses.values():
            _await_sshd(address)
        return inventory

    def state(self, name: str) -> Path:
        return self.folder / "nodes" / name / "state"

    def read(self, name: str, *command: str) -> str:
        """The output of a command in the network of a node."""
        done = subprocess.run(
            [*_inside(name), *command], capture_output=True, check=True, text=True
        )
        return done.stdout.strip()

    def set_link(self, name: str, state: str) -> None:
        """Cut the cable of a node (``down``), or plug it in again (``up``)."""
        run("ip", "link", "set", _link(name), state)

    def measure_round_trip(self, name: str) -> float:
        """The shortest of some connections to the sshd of a node, in seconds."""
        return min(_time_connection(self._addresses[name]) for _ in range(5))

    def slow_down(self, name: str, delay_seconds: float, loss: float) -> None:
        """Replace a node's cable by one that delays frames both ways, and loses a share of them."""
        run("ip", "link", "delete", _link(name))
        outer = open_tap(_link(name))
        run("ip", "link", "set", _link(name), "master", BRIDGE, "up")
        numbers = (str(outer), "eth0", str(delay_seconds), str(loss))
        cable = subprocess.Popen(
            [*_inside(name), sys.executable, "-m", "tests.plugins.fleet.slow_link", *numbers],
            pass_fds=[outer],
            stdout=subprocess.PIPE,
        )
        os.close(outer)
        self._daemons.append(cable)
        assert cable.stdout is not None
        assert cable.stdout.readline() == b"open\n"
        cable.stdout.close()
        _set_address(name, self._addresses[name])

    def end(self) -> None:
        """Remove what was started."""
        self._held.close()

    def _remove(self) -> None:
        for daemon in self._daemons:
            daemon.terminate()
            daemon.wait()
        places = [["link", "delete", _link(name)] for name in self.names]
        places += [["netns", "delete", _space(name)] for name in self.names]
        for place in [*places, ["link", "delete", BRIDGE]]:
            subprocess.run(["ip", *place], check=False, capture_output=True)
        for name in self.names:
            for module in (AGENT, SUPERVISOR):
                kill_processes(self.state(name), module)

    def _start_node(self, name: str, address: str) -> None:
        space, link = _space(name), _link(name)
        run("ip", "netns", "add", space)
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        run("ip", "link", "set", link, "master", BRIDGE, "up")
        _set_address(name, address)
        run("ip", "-n", space, "link", "set", "lo", "up")
        own = self.folder / "nodes" / name
        own.mkdir(parents=True)
        config = CONFIG.replace("ADDRESS", address)
        config = config.replace("HOST_KEY", str(self.folder / "host_key"))
        config = config.replace("AUTHORIZED", f"{self._key}.pub")
        variables = f"IOSTUDY_STATE_DIR={self.state(name)} IOSTUDY_LOCK_DIR={own / 'locks'}"
        (own / "sshd_config").write_text(config.replace("VARIABLES", variables))
        clock = f"unshare --time --monotonic {self.clocks.get(name, 0)}"
        command = f"ip netns exec {space} {clock} {SSHD} -D -f {own / 'sshd_config'}"
        self._daemons.append(subprocess.Popen(shlex.split(command)))


def _await_sshd(address: str) -> None:
    hang_guard = time.monotonic() + HANG_GUARD_SECONDS
    while True:
        try:
            _time_connection(address)
        except ConnectionRefusedError:
            assert time.monotonic() < hang_guard, f"no sshd on {address}"
            time.sleep(0.05)
        else:
            return


def _time_connection(address: str) -> float:
    began = time.monotonic()
    with socket.create_connection((address, 22)):
        return time.monotonic() - began


def _set_address(name: str, address: str) -> None:
    inside = ("ip", "-n", _space(name))
    run(*inside, "address", "add", f"{address}/24", "dev", "eth0")
    run(*inside, "link", "set", "eth0", "up")


def _inside(name: str) -> tuple[str, ...]:
    """Words before a command that let it run in the network of a node."""
    return ("ip", "netns", "exec", _space(name))


def _space(name: str) -> str:
    return f"iofleet-{name}"


def _link(name: str) -> str:
    return f"iofl-{name}"
