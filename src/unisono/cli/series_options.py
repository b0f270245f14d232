"""Options of `unisono fuse` that speak about traces."""

from __future__ import annotations

from typing import Any

import click

from unisono.words import ITEM_WORDS, SERIES_WORDS


class Window(click.ParamType[float | str]):
    """Seconds, or the word `choose`."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        if value == "choose":
            return "choose"
        return float(click.FloatRange(min=0).convert(value, param, ctx))


_OPTIONS = [
    click.option(
        "--window",
        type=Window(),
        metavar="SECONDS|choose",
        help="How far back annotators' delays and filters reach; choose: by held-out stretches.  [default: 3]",
    ),
    click.option(
        "--lag",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="Mean reaction time of the annotators, which ratings alone cannot show.",
    ),
    click.option(
        "--features-drive",
        is_flag=True,
        default=None,
        help="Features move the truth up or down instead of being its level.",
    ),
    click.option("--width", type=click.IntRange(min=1), metavar="FRAMES", help="Filter width of the published models."),
    click.option("--restarts", type=click.IntRange(min=0), metavar="N", help="Random starts; the default takes none."),
    click.option("--jobs", type=int, metavar="N", help="Processes at once for starts and windows; -1: one per core."),
]


def series_options(command: Any) -> Any:
    """The command with the options of traces; an option that is not given stays None."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def require_words(ctx: click.Context, settings: dict[str, Any], *, series: bool) -> None:
    """A usage error for a word of structure that there is for the other kind of ratings only."""
    here = SERIES_WORDS if series else ITEM_WORDS
    kind = "ratings of items" if series else "traces"
    for name in ITEM_WORDS:
        value, words = settings.get(name), here.get(name, ())
        if value is not None and value not in words:
            choice = f"Here choose one of {', '.join(words)}." if words else "Leave it out."
            raise click.UsageError(f"--{name} {value} is for {kind}. {choice}", ctx)
