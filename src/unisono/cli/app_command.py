"""`unisono app`: the desk, a page on this machine for people who do not type."""

from __future__ import annotations

import secrets
import threading
import webbrowser
from typing import TYPE_CHECKING

import click

from unisono.cli.option_groups import command, option
from unisono.errors import DataError

if TYPE_CHECKING:
    from socket import socket

    from unisono.collect.app.serve import Address

TRIED = range(8500, 8510)


@command("app")
@option("Options", "--port", "Port to listen on.  [default: the first free of 8500 on]", click.IntRange(1, 65535))
@option("Options", "--no-browser", "Print the address, and open no browser.", is_flag=True)
def app_command(port: int | None, no_browser: bool) -> None:
    """Open a page on this machine: drop a table of ratings, see how it is understood, press a button, read the report.

    Nothing leaves the machine: the page is served to this machine alone, to whoever has the link that is printed, and
    asks the network for nothing. Tables and results are removed when the program ends; download what is to stay.
    """
    try:
        from unisono.cli.desk.pages import build, own_folder
        from unisono.collect.app.serve import run
    except ModuleNotFoundError as missing:
        raise click.UsageError(f"This needs one more package, {missing.name}: pip install 'unisono[app]'.") from None
    address, line = _free_line(port)
    token = secrets.token_hex(20)
    link = f"{address.url}/{token}/"

    def announce() -> None:
        click.echo(f"The desk is open: {link}")
        click.echo("Whoever has this link, on this machine, sees what you drop. Stop with Ctrl-C.", err=True)
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    with own_folder(address.port) as folder:
        run(build(folder, token, address.hosts, announce), address, line)


def _free_line(port: int | None) -> tuple[Address, socket]:
    """A port that is free, taken: the one that was asked for, or the first of some."""
    from unisono.collect.app.serve import Address, listen

    ports = TRIED if port is None else [port]
    for one in ports:
        address = Address(port=one)
        try:
            return address, listen(address, patience=0.0 if port is None else 2.0)
        except DataError:
            if one == ports[-1]:
                raise
    raise AssertionError("some port is tried")
