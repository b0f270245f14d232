"""Kills the collection tool fifty times on each database while raters send, the study is edited and others look.

    python tools/kill_collect.py [KILLS [RATERS]]

Needs PostgreSQL and the `dev` extra. Prints one line of figures per database; fails if an acknowledged rating was lost,
doubled or changed, in the end or in any export on the way.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))

from collect_storm import Storm
from collect_support import Postgres


def main() -> None:
    """Both databases, one after the other."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    raters = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    place = Path(tempfile.mkdtemp(prefix="collect-kill-"))
    place.chmod(0o755)
    server = Postgres(place / "pg")
    try:
        for name, url in (("SQLite", f"sqlite:///{place / 'collect.db'}"), ("PostgreSQL", server.fresh())):
            began = time.monotonic()
            found = Storm(place / name / "study", url, kills, raters).blow()
            figures = ", ".join(f"{value} {key}" for key, value in found._asdict().items())
            print(f"{name}: {figures}; nothing lost, doubled or changed; {time.monotonic() - began:.0f} s", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
