"""Run every attack campaign for a bounded time and print the counts: ``python -m tests.attack``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import traceback
from pathlib import Path

import tests.shared_resources  # noqa: F401 - no lock of another program refuses an attack
from tests import attack, plugins
from tests.attack.campaign import AttackCount

_FRAMEWORK = ("campaign", "in_namespace", "__main__")
_SHOWN_FAILURES = 5


def main() -> int:
    """Print a table of attack, tries and failures; 1 if any attack succeeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("campaigns", nargs="*", help="which; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="the bound of each campaign")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices")
    arguments = parser.parse_args()
    counts: list[AttackCount] = []
    for name in arguments.campaigns or names():
        module = importlib.import_module(names()[name])
        try:
            counts += module.run(arguments.seconds, arguments.seed)
        except Exception:  # noqa: BLE001 - the counts of the others are printed
            counts.append(AttackCount(f"{name}: the campaign", 1, [traceback.format_exc()]))
        print(f"{name}: done", file=sys.stderr)
    for count in counts:
        print(f"{count.attack:<60} {count.tries:>6} tries {len(count.failures):>5} failures")
        for failure in count.failures[:_SHOWN_FAILURES]:
            print(f"    {failure}")
    tries, failures = sum(c.tries for c in counts), sum(len(c.failures) for c in counts)
    print(f"attack: {tries - failures} passed, {failures} failed")
    return 1 if failures else 0


def names() -> dict[str, str]:
    """Return the modules of campaigns by name: those of this folder, and `attack` of a plugin."""
    modules = [module.name for module in pkgutil.iter_modules(attack.__path__)]
    own = [name for name in modules if name not in _FRAMEWORK and not name.startswith("test_")]
    of_plugins = [path.parent.name for path in Path(plugins.__path__[0]).glob("*/attack.py")]
    return {
        **{name: f"tests.attack.{name}" for name in own},
        **{name: f"tests.plugins.{name}.attack" for name in sorted(of_plugins)},
    }


if __name__ == "__main__":
    sys.exit(main())
