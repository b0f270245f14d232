"""`python -m unisono`: the command, run by the Python that has the package."""

from unisono.cli.main import run

run()
