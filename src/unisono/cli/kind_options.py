"""Options that say what annotators are, and which kind of them defines the truth."""

from __future__ import annotations

from typing import Any

import click


def _patterns(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """KIND=PATTERN,... pairs as a mapping."""
    found: dict[str, str] = {}
    for text in given:
        kind, _, patterns = (part.strip() for part in text.partition("="))
        if not kind or not patterns:
            raise click.BadParameter(f"'{text}' is not KIND=PATTERN,..., as in judge='gpt-*,llama*'.", ctx, param)
        if kind in found:
            raise click.BadParameter(f"'{kind}' is given twice; put its patterns behind one another.", ctx, param)
        found[kind] = patterns
    return found or None


_OPTIONS = [
    click.option(
        "--kind",
        "kinds",
        metavar="KIND=PATTERN,...",
        multiple=True,
        callback=_patterns,
        help="What annotators are, by their names: judge='gpt-*,llama*'. Others are human. Repeatable.",
    ),
    click.option("--humans", metavar="PATTERN,...", help="Annotators who are people; others are judges."),
    click.option(
        "--reference-kind", metavar="KIND", help="The kind that defines what a dimension means.  [default: people]"
    ),
]

covariate_option = click.option(
    "--covariate",
    "covariates",
    metavar="COLUMN,...",
    help="Columns about single ratings: length, position, a batch; numbers, or few words. Their effects are written.",
)


def kind_options(command: Any) -> Any:
    """The command with options about kinds; one that is not given stays None."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
