"""Databases, servers and a browser for the tests of the collection tool."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from collect_support import Postgres

from unisono.collect.store.database import Database


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    # Not below pytest's own folder: another user has to reach it, and socket paths must be short.
    place = Path(tempfile.mkdtemp(prefix="collect-pg-"))
    place.chmod(0o755)
    server = Postgres(place / "pg")
    yield server
    server.stop()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'collect.db'}"
    url: str = request.getfixturevalue("postgres").fresh()
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    found = Database(database_url)
    found.create()
    yield found
    found.close()
