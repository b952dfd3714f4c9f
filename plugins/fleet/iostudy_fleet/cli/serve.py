"""Server of trials on a node, for `iostudy fleet run --design together`."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from iostudy import durable
from iostudy.cli.study_runner import build_local_node
from iostudy.node.conditions import Permission
from iostudy.study.parser import parse
from iostudy.study.privileges import adapt_to_user
from iostudy_fleet.supervision.work_folder import WorkFolder
from iostudy_fleet.together.served_node import ServedNode
from iostudy_fleet.together.trial_server import TrialServer

_OWNER_ONLY = 0o700


def serve_trials(path: Path) -> None:
    """Serve the controller until it ends the server; then restore all settings."""
    folder = WorkFolder(path)
    order = folder.read_order()
    study = parse(order.text, where=str(folder.study(order)), name=order.name)
    study = adapt_to_user(study, root=os.geteuid() == 0)
    durable.make_directory(folder.out, _OWNER_ONLY)
    server = TrialServer(order.calls)
    build = partial(build_local_node, study, folder.out, Permission(), server.reach_start)
    with ExitStack() as resources:
        server.serve(folder, ServedNode(build, study, resources))
