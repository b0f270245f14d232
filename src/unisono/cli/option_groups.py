"""Options under titles, and settings: `--set name=value`, with an option `--name` that is accepted and not shown.

@command("fuse")
@option("The model", "--model", ...)
@takes("--set", *MODEL)
def fuse_command(model: str, **settings: Any) -> None: ...

`unisono settings` lists the settings.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from unisono.cli.setting_table import PAGE, Setting
from unisono.cli.terminal import tell

TABLE, MODEL, QUESTION, WORK, RESULT = "The table", "The model", "The question", "The work", "The result"
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
TITLES = (TABLE, MODEL, QUESTION, WORK, RESULT, "Options")


class TitledOption(click.Option):
    """An option that `--help` shows under a title."""

    def __init__(self, *arguments: Any, title: str = "Options", **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.title = title


class TitledCommand(click.Command):
    """A command whose `--help` has its options under their titles, the table first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in (one for one in self.get_params(ctx) if isinstance(one, click.Option)):
            if record := param.get_help_record(ctx):
                rows.setdefault(getattr(param, "title", "Options"), []).append(record)
        for title in (title for title in TITLES if title in rows):
            with formatter.section(title):
                formatter.write_dl(rows[title])


command = functools.partial(click.command, cls=TitledCommand)


def option(
    title: str,
    declared: str,
    about: str = "",
    values: Any = None,
    *,
    name: str = "",
    each: Any = None,
    **attributes: Any,
) -> Callable[[Any], Any]:
    """An option under this title: `-o, --out DIR` declares its flags and what it takes, `name` is the argument's.

    A default that there is, is shown; `each` reads an option that may be repeated.
    """
    if each is not None:
        attributes |= {"multiple": True, "callback": each}
    if attributes.get("multiple"):
        said, mark, default = about.partition("  [default")
        about = f"{said} Repeatable.{mark}{default}"
    flags = [word.rstrip(",") for word in declared.split() if word.startswith("-")]
    attributes = {"show_default": attributes.get("default") not in (None, "")} | attributes
    what = declared.rpartition(flags[-1])[2].strip() or None
    declarations = [*flags, *([name] if name else [])]
    return click.option(
        *declarations, cls=TitledOption, title=title, type=values, metavar=what, help=about, **attributes
    )


def pairs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """NAME=VALUE as pairs, the callback of a repeatable option; one that takes NAME[=VALUE] has the name for both."""
    found = []
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        value = value or (name if "[=" in str(param.metavar) else "")
        if not name or not value:
            raise click.BadParameter(f"'{text}' is not {param.metavar}.", ctx, param)
        found.append((name, value))
    return tuple(found)


def by_name(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...], read: Callable[[str], Any] = str
) -> dict[str, Any] | None:
    """The same as a mapping, in which no name comes twice; None where nothing was given."""
    found: dict[str, Any] = {}
    for name, value in pairs(ctx, param, given):
        if name in found:
            raise click.BadParameter(f"'{name}' is given twice.", ctx, param)
        try:
            found[name] = read(value)
        except ValueError:
            raise click.BadParameter(f"'{name}={value}' is not {param.metavar}.", ctx, param) from None
    return found or None


def with_options(decorated: Any, options: Iterable[Callable[[Any], Any]]) -> Any:
    """The command with these options, in their order."""
    for add in reversed(list(options)):
        decorated = add(decorated)
    return decorated


def takes(flag: str, *settings: Setting, title: str = MODEL, into: str | None = None) -> Callable[[Any], Any]:
    """The command with `flag` name=value for these settings; those given arrive as keywords, or in the dict `into`."""

    def decorate(decorated: Any) -> Any:
        @functools.wraps(decorated)
        def gathered(*arguments: Any, **given: Any) -> Any:
            found = _found(flag, settings, given)
            if into is not None:
                return decorated(*arguments, **given, **{into: found})
            return decorated(*arguments, **given, **found)

        about = f"A setting by its name ({_named(settings)}); `unisono settings` lists them."
        shown = option(title, f"{flag} NAME=VALUE", about, name=_key(flag), multiple=True)
        return with_options(gathered, [shown, *(_hidden(flag, one) for one in settings)])

    return decorate


def _named(settings: Sequence[Setting], most: int = 4) -> str:
    names = [one.name for one in settings]
    return ", ".join(names if len(names) <= most else [*names[: most - 1], "..."])


def _key(flag: str, name: str = "") -> str:
    """The name under which click hands a value over."""
    return f"given_{flag[2:]}_{name}"


def _hidden(flag: str, one: Setting) -> Callable[[Any], Any]:
    how: dict[str, Any] = {"is_flag": True} if one.is_truth else {"type": one.values, "multiple": one.is_mapping}
    return click.option(one.option, _key(flag, one.name), default=None, hidden=True, **how)


def _found(flag: str, settings: Sequence[Setting], given: dict[str, Any]) -> dict[str, Any]:
    """What was given of the settings, by either spelling; takes them out of `given`."""
    ctx = click.get_current_context()
    by_name = {one.name: one for one in settings}
    said: list[tuple[str, Any]] = []
    for one in settings:
        value = given.pop(_key(flag, one.name))
        said += [(one.name, each) for each in ((value or ()) if one.is_mapping else (value,)) if each is not None]
    said += [_read(flag, text, by_name, ctx) for text in given.pop(_key(flag))]
    found: dict[str, Any] = {}
    for name, value in said:
        if name in found and not by_name[name].is_mapping:
            raise click.UsageError(f"{flag} {name} is given twice.", ctx)
        found[name] = found.get(name, {}) | value if by_name[name].is_mapping else value
    return found


def _read(flag: str, text: str, known: dict[str, Setting], ctx: click.Context) -> tuple[str, Any]:
    """The name and the value of NAME=VALUE."""
    name, mark, value = (part.strip() for part in text.partition("="))
    name = name.replace("-", "_")
    if name not in known:
        raise click.UsageError(_no_setting(flag, name, known, ctx), ctx)
    if not mark:
        raise click.UsageError(f"{flag} {text}: give a value, as in {flag} {name}=VALUE ({known[name].takes}).", ctx)
    try:
        return name, known[name].values.convert(value, None, ctx)
    except click.BadParameter as error:
        raise click.UsageError(f"{flag} {name}={value}: {error.message}", ctx) from None


def _no_setting(flag: str, name: str, known: dict[str, Setting], ctx: click.Context) -> str:
    """What to say of a name that `flag` does not take: where it is taken, or the nearest one that is."""
    from unisono.tables.labels import did_you_mean

    for param in ctx.command.params:
        options = [one for one in param.opts if one.lstrip("-").replace("-", "_") == name]
        if options and isinstance(param, TitledOption):
            return f"'{name}' is an option of its own: {options[0]}."
    others = {_key(other, name) for other in ("--set", "--read")} & {param.name for param in ctx.command.params}
    if others:
        return f"'{name}' goes behind {'--read' if flag == '--set' else '--set'}, not behind {flag}."
    elsewhere = sorted({where for _, where, settings in PAGE if name in {one.name for one in settings}})
    if elsewhere:
        return f"'{name}' is no setting of this command, but of: {'; '.join(elsewhere)}."
    hint = did_you_mean(name, known)
    return f"There is no setting '{name}'.{hint} `unisono settings` lists them all."


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
