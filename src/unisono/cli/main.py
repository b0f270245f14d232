"""The `unisono` command: finds the subcommand, and turns what went wrong into an exit code.

Exit codes: 0 done, 1 strict alerts, 2 usage, 3 bad data, 4 not converged, 5 workers lost. A command module is imported
only when it is asked for, so that `--help` answers at once.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from unisono.cli.terminal import say, show_warnings
from unisono.errors import DataError, EngineError, SettingsError
from unisono.version import __version__

# name -> (module, the click command in it, one line for --help).
COMMANDS: dict[str, tuple[str, str, str]] = {
    "fuse": ("fuse_command", "fuse_command", "Fuse ratings into one truth per item, and describe every annotator."),
    "shard": ("shard_command", "shard_command", "Make shards of a table that is larger than memory, for `fuse`."),
    "check": (
        "agreement_commands",
        "check_command",
        "Check a table of ratings: coverage, agreement, what looks suspicious.",
    ),
    "report": ("fuse_command", "report_command", "Make the page of a saved fusion again."),
    "agreement": (
        "agreement_commands",
        "agreement_command",
        "Measure how far annotators agree, with intervals, for the paper.",
    ),
    "import": ("file_commands", "import_command", "Make a table of ratings from the files of another tool."),
    "export": ("file_commands", "export_command", "Hand fused truth back to another tool."),
    "score": ("comparison_commands", "score_command", "Compare a fused truth with a reference."),
    "compare": (
        "comparison_commands",
        "compare_command",
        "Compare all models on your ratings, and say whether joint modelling helps.",
    ),
    "evaluate": (
        "comparison_commands",
        "cross_validate_command",
        "Cross-validate models against a reference, with the paper's protocol.",
    ),
    "predict": ("fuse_command", "predict_command", "Predict the truth of new items from their features."),
    "judges": (
        "design_commands",
        "judges_command",
        "Look at judges beside people, and compare systems with intervals that hold.",
    ),
    "features": ("file_commands", "features_group", "Make features from texts, images, sounds and films."),
    "next": ("design_commands", "next_command", "Say which items to rate next, and whose ratings tell most."),
    "plan": ("design_commands", "plan_command", "Predict how many ratings per item are enough."),
    "simulate": ("paper_commands", "simulate_group", "Draw ratings with a known truth from the model."),
    "datasets": ("paper_commands", "datasets_group", "List, copy and fetch data sets."),
    "reproduce": ("paper_commands", "reproduce_command", "Run the paper's experiments and judge its claims."),
    "collect": ("collect_command", "command", "Run a rating study in the browser and export it."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        found: click.Command = getattr(importlib.import_module(f"unisono.cli.{module}"), name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from unisono.tables.labels import nearest

            close = nearest(args[0], COMMANDS)
            hint = f" Did you mean '{close}'?" if close else ""
            raise click.UsageError(error.format_message() + hint, ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            # A model or a setting that there is not is a matter of usage, wherever it was noticed.
            raise click.UsageError(str(error), ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="unisono %(version)s")
def cli() -> None:
    """Many raters, one truth: fuse the ratings of many annotators into one estimate with honest uncertainty."""


def run() -> None:
    """Entry point: no traceback for what the user can mend."""
    show_warnings()
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; nothing was written.", err=True)
        sys.exit(130)
    except DataError as error:
        say(f"Error: {error}")
        sys.exit(3)
    except EngineError as error:
        say(f"Error: {error}")
        sys.exit(5)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error of ours.
        sys.stderr.close()
        sys.exit(0)
