"""One cluster of each engine for all tests of scale."""

import os
import sys

import pytest

from unisono.scale.executors import open_engine


@pytest.fixture(scope="session", params=["ray", "dask", "processes", "serial"])
def executor(request):
    """An executor of every engine; its workers may be killed, since others take their place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # Ray's workers are not children of the test
        opened = open_engine(request.param, 1 if request.param == "serial" else 2)
    with opened:
        yield opened
