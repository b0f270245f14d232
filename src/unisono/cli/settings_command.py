"""`unisono settings`: every setting that is no option of its own, with its meaning, values and default."""

from __future__ import annotations

import click

from unisono.cli.option_groups import command
from unisono.cli.setting_table import PAGE, Setting
from unisono.cli.terminal import tell


@command("settings")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.pass_context
def settings_command(ctx: click.Context, /, names: tuple[str, ...]) -> None:
    """List the settings that --set and --read take: what each means, its values, its default, and for which commands.

    With NAMEs, these alone.
    """
    wanted = [name.replace("-", "_") for name in names]
    known = {one.name for _, _, settings in PAGE for one in settings}
    for name in wanted:
        if name not in known:
            from unisono.tables.labels import did_you_mean

            hint = did_you_mean(name, known)
            raise click.UsageError(f"There is no setting '{name}'.{hint}", ctx)
    for title, where, settings in PAGE:
        shown = [one for one in settings if one.name in wanted or not wanted]
        if shown:
            tell(f"{title} ({where})")
            for one in shown:
                tell("\n".join(_lines(one)))
            tell("")


def _lines(one: Setting) -> list[str]:
    default = f"  [default: {one.default}]" if one.default else ""
    return [f"  {one.name}={one.takes}", f"      {one.about}{default}"]
