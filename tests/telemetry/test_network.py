"""sar's figures of interfaces, and TCP retransmissions."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from iostudy.telemetry.network import compute_interface_figures, compute_tcp_figures
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import Samples

NAN = float("nan")
SECONDS = np.array([0.0, 1.0, 2.0])
COUNTERS = ("bytes", "packets", "errors", "dropped")


def interface(name, **counted):
    names = [f"{direction}_{counter}" for direction in ("rx", "tx") for counter in COUNTERS]
    columns = dict.fromkeys(names, (0, 0, 0)) | counted
    return {f"net.{name}.{key}": np.array(values, float) for key, values in columns.items()}


def test_figures_are_sars():
    columns = interface(
        "eth0",
        rx_bytes=(0, 1024, 4096),
        tx_bytes=(0, 125_000, 250_000),
        rx_packets=(5, 5, 25),
        tx_dropped=(0, 1, 1),
        speed_mbit=(10, NAN, 10),
    )
    interfaces = compute_interface_figures(Samples(SECONDS, columns))["eth0"]
    assert (interfaces["rxkB/s"], interfaces["rxpck/s"], interfaces["txdrop/s"]) == (
        2,
        10,
        0.5,
    )
    assert interfaces["%ifutil"] == pytest.approx(10)


def test_a_speed_that_is_not_known_gives_no_utilization():
    assert "%ifutil" not in compute_interface_figures(Samples(SECONDS, interface("lo")))["lo"]


def test_an_interface_of_which_only_the_speed_is_known_has_no_figures():
    """As in recordings that were made in another network namespace than that of /sys."""
    columns = interface("lo") | {"net.eth0.speed_mbit": np.array([1000, NAN, 1000])}
    assert set(compute_interface_figures(Samples(SECONDS, columns))) == {"lo"}


@pytest.mark.root
def test_in_another_network_namespace_than_that_of_sys(tmp_path):
    """There /sys/class/net has interfaces that /proc/net/dev has not."""
    namespace = tmp_path / "namespace.sh"
    namespace.write_text(
        "mount -t sysfs none /sys && ip link add v0 type veth peer name v1 || exit 77\n"
        "ip link set v0 up && ip link set v1 up && test $(cat /sys/class/net/v0/speed) -gt 0\n"
        'unshare --net "$@" && true\n'
    )
    script = (
        "from iostudy.telemetry.recorder import ProcRecorder\n"
        "recorder = ProcRecorder([])\n"
        "recorder.start()\n"
        "telemetry = recorder.stop()\n"
        "print(*telemetry.samples.keyed('net'), *telemetry.summary.network)\n"
    )
    inside = ["unshare", "--net", "--mount", "sh", "-e", str(namespace)]
    done = subprocess.run(
        [*inside, sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip(f"no virtual Ethernet here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"lo"}


def test_an_interface_counts_while_it_is_there():
    columns = interface("eth1")
    for values in columns.values():
        values[0] = NAN
    columns["net.eth1.rx_packets"] = np.array([NAN, 100, 130])
    columns |= {name.replace("eth1", "eth2"): np.full(3, NAN) for name in columns}
    interfaces = compute_interface_figures(Samples(SECONDS, columns))
    assert set(interfaces) == {"eth1"}
    assert interfaces["eth1"]["rxpck/s"] == 30


def test_segments_sent_again():
    columns = {"tcp.retransmitted": [0, NAN, 4], "tcp.out_segments": [0, NAN, 200]}
    samples = Samples(SECONDS, {name: np.array(v, float) for name, v in columns.items()})
    assert compute_tcp_figures(samples) == {"retrans/s": 2, "%retrans": 2}
    assert compute_tcp_figures(Samples(SECONDS, {})) == {}


def test_loopback_traffic_is_recorded():
    size = 4 << 20
    recorder = ProcRecorder([], hz=100)
    recorder.start()
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = threading.Thread(target=_send, args=(server.getsockname(), size))
        sender.start()
        with server.accept()[0] as connection:
            while connection.recv(1 << 16):
                pass
        sender.join()
    summary = recorder.stop().summary
    assert summary.network["lo"]["rxkB/s"] * summary.seconds >= size / 1024
    assert summary.network["lo"]["rxpck/s"] > 0
    assert summary.machine["%retrans"] >= 0


def _send(address, size):
    with socket.create_connection(address) as connection:
        connection.sendall(bytes(size))
