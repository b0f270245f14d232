"""The page of the command line on the documentation site: docs/cli.md, every command's own --help, and every setting.

`tools/build_docs.py` writes it, so that it is always that of the code; this prints it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from unisono.cli.main import cli
from unisono.cli.setting_table import PAGE

OPENING = Path(__file__).parent.parent / "docs" / "cli.md"
WIDTH = 100


def text() -> str:
    """The whole page."""
    commands = "".join(f"\n## `{name}`\n\n```\n{help_}\n```\n" for name, help_ in pages(cli, "unisono", None))
    return OPENING.read_text(encoding="utf-8") + commands + "\n## Settings\n" + "".join(settings())


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
    print(text())
