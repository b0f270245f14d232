"""Writes docs/cli.md from the commands' own --help and the table of settings. A test fails when they differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from unisono.cli.main import cli
from unisono.cli.setting_table import PAGE

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
WIDTH = 100
HEAD = """# The command line

Written by `tools/write_cli_docs.py` from the commands' own `--help`. What few people change is no option of its own: it
is set by name, by `--set name=value` or, where it says how a table is read, by `--read name=value`; both may be
repeated. [Settings](#settings) lists all of them, as `unisono settings` does. Every setting is also understood as an
option (`--lag 2` for `--set lag=2`), which `--help` does not show.

Results go to standard output or into `--out`, talk and progress to standard error. Exit codes: 0 done, 1 alerts under
`--strict`, 2 wrong usage, 3 bad data, 4 not converged (results are written all the same), 5 workers or
cluster lost, 130 interrupted.
"""


def text() -> str:
    """The whole page."""
    commands = "".join(f"\n## `{name}`\n\n```\n{help_}\n```\n" for name, help_ in pages(cli, "unisono", None))
    return HEAD + commands + "\n## Settings\n" + "".join(settings())


def settings() -> Iterator[str]:
    """A table for every group of settings."""
    for title, where, group in PAGE:
        what, _, flag = title.rpartition(": ")
        yield f"\n### {what}\n\nBy `{flag}`, of: {where}.\n\n"
        yield "| setting | values | meaning | default |\n|---|---|---|---|\n"
        for one in group:
            cells = (f"`{one.name}`", one.takes.replace("|", ", "), one.about, one.default)
            yield "| " + " | ".join(cells) + " |\n"


def pages(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """Name and help of a command and of everything below it."""
    # Made as click makes it for a real call, so that settings such as -h apply.
    settings = command.context_settings | {"terminal_width": WIDTH, "max_content_width": WIDTH}
    ctx = click.Context(command, info_name=name.split()[-1], parent=parent, **settings)
    yield name, command.get_help(ctx)
    if isinstance(command, click.Group):
        for below in command.list_commands(ctx):
            found = command.get_command(ctx, below)
            assert found is not None
            yield from pages(found, f"{name} {below}", ctx)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
