"""`unisono fuse`, `predict` and `report`: from ratings to the truth, to unrated items, and to the page again."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli import table_options as tables
from unisono.cli.model_options import Engine, covariate_option, engine_options, kind_option, ratings_or_shards_argument
from unisono.cli.option_groups import FOLDER, MODEL, NEW_FILE, NEW_FOLDER, RESULT, TABLE, command, option, takes
from unisono.cli.setting_table import CATEGORIES, CLUSTER, COPIES
from unisono.cli.setting_table import MODEL as MODEL_SETTINGS
from unisono.cli.terminal import estimation_progress, print_json, say, tell, typed_command
from unisono.errors import AlertWarning, heard

if TYPE_CHECKING:
    from unisono.api import Fusion
    from unisono.api.category_fusion import CategoryFusion
    from unisono.api.comparison_fusion import ComparisonFusion


NOT_CONVERGED = 4
REPORT = "report.json"


@command("fuse")
@ratings_or_shards_argument
@tables.comparisons_option
@tables.reading_options
@tables.category_option
@option(MODEL, "--model NAME", "Model; see the list above.", default="auto")
@tables.features_option
@option(MODEL, "--gold FILE", "Items whose truth is known: item, then dimensions.", tables.TablePath())
@option(MODEL, "--start FIT", "An earlier fit: what it knows of annotators who rate again is taken over.", FOLDER)
@kind_option
@covariate_option
@takes("--set", *MODEL_SETTINGS, *COPIES, *CATEGORIES, *CLUSTER)
@tables.seed_option
@engine_options
@option(RESULT, "--out DIR", "Folder to write.", NEW_FOLDER)
@option(RESULT, "--overwrite", "Replace files in DIR that no fusion wrote.", is_flag=True)
@option(RESULT, "--report/--no-report", "With --out, write report.html as well.", default=True)
@tables.json_option
@click.pass_context
def fuse_command(
    ctx: click.Context,
    /,
    ratings: str | None,
    comparisons: str | None,
    reading: dict[str, Any],
    model: str,
    engine: Engine,
    out: Path | None,
    overwrite: bool,
    report: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Fuse RATINGS into one truth per item (or per frame of traces), and describe every annotator.

    Answers that are categories (columns of words, or named with --categories) get class probabilities instead of
    intervals; see docs/categories.md.

    RATINGS is a table of any shape (CSV, XLSX, JSON, Parquet, packed or not), or - for standard input; or the folder of
    a study of `unisono collect`, or of its export. A time column makes it traces. With --out DIR it writes truth.csv,
    annotators.csv, annotators_overall.csv, summary.json, fit/ and report.html, a page to read and to send (with
    categories also categories.csv and confusion.csv, with several kinds of annotators groups.csv); without, the truth
    goes to standard output as CSV.

    With --comparisons FILE and without RATINGS, pairs of items of which one has more (or rankings, wins and losses,
    best and worst) are fused into one truth in logits; see docs/comparisons.md.

    RATINGS may also be shards: the folder that `unisono shard` made, or a pattern such as 'ratings/*.parquet'. They are
    fused part by part by an --engine, and truth/ has a file for each; see docs/scale.md.

    \b
    Models: auto, joint, independent, paper-joint,
            paper-independent, mean, median, zscore-mean,
            ewe, weighted-mean,
            types, regions, curved, raykar (items),
            aligned-mean, lag-mi, dtw-mean, windowed-ewe,
            rank-mean, fpca, dpcca, dpctw (traces),
            groups (several kinds of annotators)
    Models of categories: auto, glad, mace, dawid-skene,
            smyth, raykar, regions, majority
    """
    from unisono.api import Fusion, fuse
    from unisono.api.category_fusion import CategoryFusion
    from unisono.api.input_output import covariate_table
    from unisono.cli.shard_command import fuse_in_shards, in_shards
    from unisono.fusers.category_models import find_category_model
    from unisono.fusers.model_registry import find_model

    if out is not None and not overwrite:
        from unisono.tables.exporting.result_folder import require_own_folder

        require_own_folder(out)
    if comparisons is None:
        find_model(model)  # a wrong name is said before anything is read
        find_category_model(asked.get("category_model", "auto"))
        assert ratings is not None
        sharded = in_shards(ratings, engine, reading)
        answers: Any = None if sharded else tables.read_answers_quietly(ratings, reading, asked.pop("categories"))
        asked["gold"] = tables.side_table(asked["gold"], reading)
        asked["features"] = tables.side_table(asked["features"], reading, complete=True)
        if sharded:
            how: dict[str, Any] = {"model": model, "out": out, "report": report, "as_json": as_json}
            ctx.exit(fuse_in_shards(ratings, engine, reading, asked, **how))
        asked["covariates"] = covariate_table(ratings, asked["covariates"], reading)
    else:
        answers, asked = ratings, reading | {"comparisons": comparisons} | asked
    said = {name: value for name, value in asked.items() if value is not None}
    workers = engine.for_traces() if comparisons is None else nullcontext()
    with workers as executor, estimation_progress("Estimating") as watching, _said_once(out, as_json):
        result = fuse(answers, model=model, on_step=watching, executor=executor, **said)
        if isinstance(result, Fusion) and executor is None:
            _ = result.described  # in view: of long traces it takes a while
    if out is not None:
        with estimation_progress("Writing") as watching:
            result.save(out, report=report, command=typed_command(), on_phase=watching.say, overwrite=overwrite)
    _show(result, out, as_json)
    if not isinstance(result, CategoryFusion) and not result.fuser.trace_.converged:
        ctx.exit(NOT_CONVERGED)


def _said_once(out: Path | None, as_json: bool) -> AbstractContextManager[None]:
    """Where the summary is shown in the same place as warnings, what it lists is not said before."""
    beside = not as_json and (out is None or sys.stdout.isatty())
    return heard(lambda told: None, AlertWarning) if beside else nullcontext()


def _show(result: Fusion | CategoryFusion | ComparisonFusion, out: Path | None, as_json: bool) -> None:
    if as_json:
        files = {"out": str(out)} if out is not None else {"truth": result.fused_rows()}
        print_json(result.summary_data | files)
        return
    if out is None:
        click.echo(result.truth_csv(), nl=False)
        say(result.summary())
    else:
        tell(result.summary())
        written = [f"{name}.csv" for name in result.files()]
        more = [name for name in ("summary.json", "fit/", "report.html") if (out / name).exists()]
        if (out / REPORT).is_file():
            tell(three_answers(json.loads((out / REPORT).read_text(encoding="utf-8"))))
        tell(f"\nWritten to {out}: {', '.join([*written, *more])}")
        if "report.html" in more:
            tell(f"Pictures, tables and a methods paragraph: open {out / 'report.html'}")


def three_answers(data: dict[str, Any]) -> str:
    """What the report says first, on less than a screen: what the answer is, how sure it is, whom to look at."""
    from unisono.report.report_highlights import in_short

    lines = []
    for answer in in_short(data):
        lines += ["", f"{answer.question}  {answer.sentence}"]
        row = ""
        for line in answer.lines:
            if line.name and row.endswith(":"):
                row += f" {line.name} {line.text}"  # names below a heading stand beside each other
            elif line.name and row:
                row += f", {line.name} {line.text}"
            elif line.name:
                lines.append(f"  {line.name}: {line.text}")
            else:
                lines += [row] if row else []
                row = f"  {line.text}:" if answer.question.startswith("Whom") and not line.text.endswith(".") else ""
                lines += [] if row else [f"  {line.text}"]
        lines += [row] if row else []
    return "\n".join(lines)


@command("predict")
@click.argument("fit", type=FOLDER)
@tables.table_argument("features")
@tables.item_options
@option(TABLE, "--ratings FILE", "Ratings of these items by annotators of the fit.", tables.TablePath())
@option(RESULT, "--out FILE", "CSV file to write.", NEW_FILE)
def predict_command(fit: Path, features: str, reading: dict[str, Any], ratings: str | None, out: Path | None) -> None:
    """Predict the truth of new items (or recordings) from their FEATURES with the model saved in FIT.

    FIT is the folder that `unisono fuse --out` wrote, or the fit/ in it. With --ratings, ratings of the new items by
    annotators already known are used as well. The table has the columns of truth.csv.
    """
    from unisono.api import load, on_clock
    from unisono.tables.atomic_files import atomic_path
    from unisono.tables.exporting.result_folder import csv_text
    from unisono.tables.labels import counted
    from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

    fuser = load(fit)
    reading = {"rate": getattr(fuser, "rate_", None)} | reading  # traces keep the clock of the fit
    table = read_item_table(features, **reading, complete=True)
    if ratings is None:
        fused = fuser.predict(table)
    else:
        rated = read_ratings(ratings, **reading)
        fused = fuser.fuse(rated, on_clock(table, rated, complete=True))
    text = csv_text(fused.rounded_columns())
    if out is None:
        click.echo(text, nl=False)
        return
    with atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    say(f"Predicted {counted(len(fused.items), 'item')}; written to {out}.")


@command("report")
@click.argument("directory", type=FOLDER)
@option("Options", "-o, --out FILE", "Page to write.", NEW_FILE)
def report_command(directory: Path, out: Path | None) -> None:
    """Make the report of a saved fusion again: DIRECTORY is what `unisono fuse --out` wrote.

    The page is made of DIRECTORY/report.json alone, so neither the ratings nor the fit are needed. It is one HTML file
    that asks the network for nothing: mail it, print it, archive it.
    """
    from unisono.report.report_page import page_again

    click.echo(f"Written to {page_again(directory, out)}.")
