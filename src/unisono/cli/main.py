"""The `unisono` command: finds the subcommand, and turns what went wrong into an exit code.

Exit codes: 0 done, 1 strict alerts, 2 usage, 3 bad data, 4 not converged, 5 workers lost. A command module is imported
only when it is asked for, so that `--help` answers at once.
"""

from __future__ import annotations

import importlib
import io
import sys
from typing import Any

import click

from unisono import errors, version
from unisono.cli.terminal import say, show_warning
from unisono.errors import ConvergenceWarning, DataError, DataWarning, EngineError, SettingsError

# A title of --help -> name -> (module, where the click command is called NAME_command; one line).
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "From ratings to the truth": {
        "check": ("agreement_commands", "What is in a table, and what looks suspicious."),
        "fuse": ("fuse_command", "The truth of every item, and a description of every annotator."),
        "app": ("app_command", "The same by clicks: a page on this machine, for files that you drop."),
        "report": ("fuse_command", "Make the page of a saved fusion again."),
        "predict": ("fuse_command", "The truth of new items, from their features."),
    },
    "How good is it?": {
        "agreement": ("agreement_commands", "Inter-rater reliability, for the paper."),
        "compare": ("comparison_commands", "All models on your ratings: does joint modelling help?"),
        "score": ("comparison_commands", "A fused truth against a reference."),
        "cross-validate": ("comparison_commands", "Models against a reference, with the paper's protocol."),
        "leaderboard": ("design_commands", "Which system is best, and which is as good."),
        "judges": ("design_commands", "Judges beside people, and whether they may replace them."),
    },
    "A study, before and while it runs": {
        "plan": ("design_commands", "How many ratings per item are enough."),
        "next": ("design_commands", "Which items to rate next, and whose ratings tell most."),
        "collect": ("collect_command", "Run a rating study in the browser and export it."),
    },
    "Tables and files": {
        "import": ("file_commands", "The files of another tool as a table of ratings."),
        "export": ("file_commands", "The fused truth for another tool."),
        "features": ("file_commands", "Features of texts, images, sounds and films."),
        "shard": ("shard_command", "Divide a table that is larger than memory, for `fuse`."),
        "datasets": ("paper_commands", "Data sets to try: list, copy, fetch."),
    },
    "The paper": {
        "simulate": ("paper_commands", "Ratings with a known truth, drawn from the model."),
        "reproduce": ("paper_commands", "The paper's experiments, and whether its claims hold."),
    },
    "Help": {"settings": ("option_groups", "What --set and --read take, with meaning and default.")},
}
COMMANDS = {name: found for group in GROUPS.values() for name, found in group.items()}
FIRST_STEP = [
    ("unisono datasets copy squality", "a table to try things on: squality.csv"),
    ("unisono check squality.csv", "look at it; any table with a row per rating will do"),
    ("unisono fuse squality.csv --out result", "the truth and the annotators; open result/report.html"),
]


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"unisono.cli.{COMMANDS[cmd_name][0]}")
        found: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from unisono.tables.labels import did_you_mean

            hint = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(error.format_message() + hint, ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            # A model or a setting that there is not is a matter of usage, wherever it was noticed.
            raise click.UsageError(errors.in_shell(error), ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("First steps"):
            formatter.write_dl(FIRST_STEP)
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])
        click.Command.format_options(self, ctx, formatter)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version.__version__, message="unisono %(version)s")
def cli() -> None:
    """Many raters, one truth: fuse the ratings of many annotators into one estimate with honest uncertainty."""


def run() -> None:
    """Entry point: no traceback for what the user can mend."""
    try:
        with errors.in_a_shell(), errors.heard(show_warning, DataWarning, ConvergenceWarning):
            code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(file=shown)
        say(shown.getvalue().rstrip("\n"))
        sys.exit(error.exit_code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; nothing was written.", err=True)
        sys.exit(130)
    except DataError as error:
        say(f"Error: {errors.in_shell(error)}")
        sys.exit(3)
    except EngineError as error:
        say(f"Error: {error}")
        sys.exit(5)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error of ours.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.filename is None:
            raise
        say(f"Error: {error.filename}: {(error.strerror or 'cannot be used').lower()}.")
        sys.exit(3)
