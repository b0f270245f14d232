"""`unisono check` and `unisono agreement`: what is in a table, how far annotators agree, what deserves attention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli import table_options as tables
from unisono.cli.option_groups import FOLDER, QUESTION, RESULT, command, option, takes
from unisono.cli.setting_table import DRAWS, FROM_ZERO, LEVEL
from unisono.cli.terminal import deliver, number, print_table, task_progress, tell, wrapped
from unisono.tables.labels import counted

if TYPE_CHECKING:
    from unisono.evaluate.agreement_results import Agreement, DimensionAgreement
    from unisono.evaluate.overview import CategoryOverview, Overview
    from unisono.tables.categories import Categories


EXPLAINED = (
    "alpha: Krippendorff's, 1 is perfect, 0 is chance. ICC(A,1): reliability of one rating, ICC(A,k): of the mean of "
    "all. r others: correlation of an annotator with the mean of the others, median. In brackets: 95 % intervals. "
    "`unisono agreement` has more."
)


@command("check")
@tables.ratings_if_any
@tables.comparisons_option
@tables.reading_options
@tables.category_option
@option(RESULT, "--trials FILE", "Times of answers: item, annotator, position, response_seconds.", tables.TablePath())
@option(RESULT, "--strict", "Exit with code 1 if anything deserves a look.", is_flag=True)
@tables.json_option
@click.pass_context
def check_command(
    ctx: click.Context,
    ratings: str | None,
    comparisons: str | None,
    reading: dict[str, Any],
    categories: dict[str, str] | None,
    trials: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Check a table of RATINGS: coverage, agreement between annotators, and what looks suspicious.

    RATINGS is a table of any shape (CSV, XLSX, JSON, Parquet, packed or not), or - for standard input; or the folder of
    a study of `unisono collect`, or of its export. --comparisons has another table looked at, of pairs of items. A
    trials.csv beside RATINGS says how long answers took.
    """
    from unisono.api import check

    if comparisons is not None:
        about = check(comparisons=comparisons)
        deliver(about, None, as_json, click.echo)
        if strict and about.alerts:
            ctx.exit(1)
    if ratings is None:
        return
    from unisono.tables.reading.collected_folder import trials_beside

    read = tables.read_answers_quietly(ratings, reading, categories)
    found = check(read, trials=trials or trials_beside(ratings))
    deliver(found, None, as_json, lambda found: _print_found(found, read.categories))
    if strict and (found.alerts or any(one.alerts for one in found.categories)):
        ctx.exit(1)


def _print_found(found: Overview, answers: Categories | None) -> None:
    if found.dimensions:
        _print_overview(found)
    if answers is not None:
        _print_categories(answers, found.categories, alone=not found.dimensions)


def _print_categories(answers: Categories, chosen: tuple[CategoryOverview, ...], *, alone: bool) -> None:
    from unisono.report.category_summary import reading_line, recognised_line

    for line in [*(reading_line(answers) if alone else []), *recognised_line(answers)]:
        click.echo(line)
    counts = [
        [one.name, one.answers, one.items, one.annotators, len(one.classes), _common(one.classes)] for one in chosen
    ]
    print_table(["categories", "answers", "items", "annotators", "classes", "most chosen"], counts)
    agreed = [[one.name, one.alpha, one.ac1, number(one.others, 2)] for one in chosen]
    print_table(["agreement", "alpha (nominal)", "AC1", "with most others"], agreed)
    for one in chosen:
        for alert in one.alerts:
            click.echo(f"  {alert.severity}: {alert.message}")


def _common(classes: dict[str, int]) -> str:
    name = max(classes, key=lambda label: classes[label])
    return f"{name} ({100 * classes[name] / max(sum(classes.values()), 1):.0f} %)"


def _print_overview(found: Overview) -> None:
    from unisono.tables.item_table import reading_lines

    for line in reading_lines(found.reading):
        tell(line)
    what = "recording" if found.kind == "series" else "item"
    counts = [(found.items, what), (found.annotators, "annotator"), (len(found.dimensions), "dimension")]
    tell(f"{found.source}: {', '.join(counted(n, one) for n, one in [*counts, (found.judgements, 'judgement')])}")
    if found.rate is not None and found.seconds is not None:
        frames = "frame" if found.rate == 1 else "frames"
        tell(f"{found.seconds:.1f} seconds in all, brought to {found.rate:g} {frames} per second")
    tell(f"annotators per {what}: {_span(found.annotators_per_item)}")
    tell(f"{what}s per annotator: {_span(found.items_per_annotator)}")
    values = [
        [row.name, row.ratings, row.missing, *(f"{value:.4g}" for value in (row.low, row.mean, row.high))]
        for row in found.dimensions
    ]
    print_table(["dimension", "n", "missing", "min", "mean", "max"], values)
    agreed = [[row.name, row.alpha, row.icc_a1, row.icc_ak, row.others] for row in found.dimensions]
    print_table(["agreement", "alpha", "ICC(A,1)", "ICC(A,k)", "r others"], agreed)
    tell(EXPLAINED)
    tell("Nothing looks suspicious." if not found.alerts else "Worth a look:")
    for alert in found.alerts:
        tell(f"  {alert.severity}: {alert.message}")


def _span(counts: tuple[int, float, int]) -> str:
    least, median, most = counts
    return f"{least}" if least == most else f"{least} to {most}, median {median:g}"


WIDTH = 80  # columns of prose, also in a pipe
WORST = 10  # annotators shown, those with the largest misfit first


@command("agreement")
@tables.ratings_if_any
@tables.comparisons_option
@tables.reading_options
@option(
    QUESTION, "--bootstrap N", "Bootstrap draws of the intervals; 0 for none.", FROM_ZERO, name="draws", default=1000
)
@option(QUESTION, "--level", "Confidence level.", LEVEL, default=0.95)
@option(QUESTION, "--these-annotators", "Intervals for these very annotators: they are fixed effects.", is_flag=True)
@option(QUESTION, "--fit DIR", "A saved fusion, whose estimate's reliability is told, not the mean's.", FOLDER)
@takes("--set", *DRAWS, title=QUESTION)
@tables.out_option
@tables.json_option
def agreement_command(
    ratings: str | None,
    comparisons: str | None,
    reading: dict[str, Any],
    out: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Measure how far the annotators of RATINGS agree: ICC under both names, alpha, AC2, pairs, fit of annotators.

    Every figure has an interval that holds for other items and other annotators of the same kind (for traces, other
    recordings or stretches of them; they are also compared with relative delays taken out). A sentence in APA style is
    printed; --json also has a fragment for the Human Evaluation Datasheet. docs/agreement.md says which figure answers
    which question. With --comparisons FILE instead: alpha of answers about the same pair, circular triads of annotators
    and Kendall's zeta.
    """
    from unisono.api import agreement
    from unisono.tables.reading.ratings_reader import read_ratings

    if comparisons is not None:
        deliver(agreement(comparisons=comparisons, **settings), out, as_json, click.echo)
        return
    table = read_ratings(ratings, **reading)
    with task_progress("Measuring") as on_task:
        found = agreement(table, on_task=on_task, **settings)
    deliver(found, out, as_json, _print_agreement)


def _print_agreement(found: Agreement) -> None:
    what = "recording" if found.kind == "traces" else "item"
    counts = [(found.items, what), (len(found.annotators), "annotator"), (found.judgements, "judgement")]
    tell(f"{found.source}: {', '.join(counted(n, one) for n, one in counts)}; {found.design} design")
    whom = "these" if found.these_annotators else "other"
    of = f"other {found.resampled} and {whom} annotators"
    tell(f"In brackets: {found.level:.0%} intervals for {of}, {found.draws} draws.")
    _print_design(found.dimensions)
    _print_figures(found.dimensions)
    if found.lag_corrected:
        tell("The same with relative delays taken out")
        _print_icc(found.lag_corrected)
    _print_pairs(found)
    if found.multivariate:
        print_table(["reliability of a single rating", "value"], found.multivariate.items())
    _print_annotators(found)
    for note in found.notes:
        tell(wrapped(f"Note: {note}", WIDTH))
    tell(wrapped(found.apa(), WIDTH))


def _print_figures(dimensions: tuple[DimensionAgreement, ...]) -> None:
    """Several narrow tables: one wide one would not fit a terminal."""
    _print_icc(dimensions)
    _print_table(dimensions, {"ICC(1) = (1,1)": "ICC(1)", "ICC(k) = (1,k)": "ICC(k)", "G(q,k)": "G(q,k)"})
    discrete = any(one.figures["AC2"].value == one.figures["AC2"].value for one in dimensions)
    alphas = {"alpha, interval": "alpha (interval)", "alpha, ordinal": "alpha (ordinal)"}
    _print_table(dimensions, alphas | ({"AC2": "AC2"} if discrete else {}))
    rows = [
        [one.name, *(f"{one.figures[name].value:.3g}" for name in ("SEM", "SEM of the mean"))]
        + [f"{100 * one.figures[f'share of {part}'].value:.0f} %" for part in ("items", "annotators", "the rest")]
        + [one.figures.get("reliability")]
        for one in dimensions
    ]
    print_table(["dimension", "SEM", "of mean", "items", "annot.", "rest", "reliability"], rows)


def _print_icc(dimensions: tuple[DimensionAgreement, ...]) -> None:
    _print_table(dimensions, {"ICC(A,1) = (2,1)": "ICC(A,1)", "ICC(A,k) = (2,k)": "ICC(A,k)"})
    _print_table(dimensions, {"ICC(C,1) = (3,1)": "ICC(C,1)", "ICC(C,k) = (3,k)": "ICC(C,k)"})


def _print_table(dimensions: tuple[DimensionAgreement, ...], names: dict[str, str]) -> None:
    rows = [[one.name, *(one.figures[name] for name in names.values())] for one in dimensions]
    print_table(["dimension", *names], rows)


def _print_design(dimensions: tuple[DimensionAgreement, ...]) -> None:
    rows = [
        [one.name, one.ratings, number(one.k, 2), number(one.q, 2), f"{one.low:.4g}", f"{one.high:.4g}"]
        + [f"{100 * share:.0f} %" for share in (one.at_low, one.at_high)]
        for one in dimensions
    ]
    print_table(["dimension", "ratings", "k", "q", "lowest", "highest", "at low", "at high"], rows)


def _print_pairs(found: Agreement) -> None:
    rows = [
        [f"{one.name}, {name}", *spread[:4], spread.pairs]
        for one in found.dimensions
        for name, spread in one.pairs.items()
        if spread.pairs
    ]
    if rows:
        print_table(["pairs of annotators", "mean", "median", "min", "max", "pairs"], rows)


def _print_annotators(found: Agreement) -> None:
    """The annotators who fit worst in any dimension."""
    misfit = [max((abs(x - 1) for x in row if x == x), default=-1.0) for row in found.by_annotator["infit"].tolist()]
    order = sorted(range(len(misfit)), key=lambda k: -misfit[k])[:WORST]
    names = ("severity", "infit", "outfit", "r_others", "exact")
    rows = [
        [f"{found.annotators[k]}, {one.name}", *(number(float(found.by_annotator[name][k, d]), 2) for name in names)]
        for k in order
        for d, one in enumerate(found.dimensions)
    ]
    print_table(["annotator", "severity", "infit", "outfit", "r others", "equal"], rows)
    if len(found.annotators) > WORST:
        tell(f"The {WORST} who fit worst of {len(found.annotators)} annotators; --json has all.")
