"""Every setting that is no daily option, once: its name, the values it takes, what it means, its default.

From this table are made: what `--set name=value` and `--read name=value` take, the nearest name for one that is
misspelt, an option `--name` that is accepted without being shown, the page that `unisono settings` prints, and the part
of the documentation site that lists them. A test holds the table to what models and readers have. Imports click alone,
because `unisono fuse --help` needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from unisono.errors import SettingsError, in_shell
from unisono.maths.structure_words import COPY_WORDS, ENGINE_WORDS, ITEM_WORDS

DUPLICATES = ("error", "first", "last", "mean")
UNITS = ("s", "ms", "us", "ns", "min", "h", "frames")


class Parsed(click.ParamType[Any]):
    """A text that a function reads as a mapping."""

    def __init__(self, name: str, read: Callable[[str], Any]):
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except (SettingsError, ValueError) as error:
            self.fail(in_shell(error), param, ctx)


class Setting(NamedTuple):
    """One setting, under the name that it has in Python."""

    name: str
    values: click.ParamType[Any]
    about: str
    default: str = ""  # in words, where nothing is said
    spelt: str = ""  # as an option, where that is not --name

    @property
    def is_truth(self) -> bool:
        return isinstance(self.values, click.types.BoolParamType)

    @property
    def is_mapping(self) -> bool:
        """Whether it may be given several times, a part each."""
        return isinstance(self.values, Parsed)

    @property
    def option(self) -> str:
        """The option that is accepted without being shown."""
        plain = "--" + self.name.replace("_", "-")
        return self.spelt or (f"{plain}/--no-{plain[2:]}" if self.is_truth else plain)

    @property
    def takes(self) -> str:
        """The values, in words."""
        if isinstance(self.values, click.Choice):
            return "|".join(self.values.choices)
        if self.is_truth:
            return "true|false"
        if isinstance(self.values, click.IntRange | click.FloatRange):
            what = "whole number" if isinstance(self.values, click.IntRange) else "number"
            return f"{what}, {self.values._describe_range()}"
        return {"integer": "whole number", "float": "number", "text": "text"}.get(self.values.name, self.values.name)


def _labels(text: str) -> dict[str, float | None]:
    from unisono.tables.reading.cell_meanings import parse_labels

    return parse_labels(text)


def _priors(text: str) -> dict[str, float | bool]:
    found: dict[str, float | bool] = {}
    for part in text.split(","):
        name, mark, value = (piece.strip() for piece in part.partition("="))
        if not mark:
            raise SettingsError(f"'{part.strip()}' is not of the form NAME=NUMBER.")
        found[name] = value == "true" if value in ("true", "false") else float(value)
    return found


LABELS = Parsed("WORD=NUMBER,...", _labels)
POSITIVE = click.FloatRange(min=0, min_open=True)
_FROM_ZERO = click.FloatRange(min=0)
_PERCENT = click.FloatRange(0, 100)
_LAWS = click.Choice(("uniform", "identity", "near-identity", "shared"))
_SHARE = click.FloatRange(0, 1, max_open=True)
FROM_ONE, FROM_ZERO = click.IntRange(min=1), click.IntRange(min=0)
LEVEL = click.FloatRange(0, 1, min_open=True, max_open=True)


def _word(name: str, about: str, default: str) -> Setting:
    return Setting(name, click.Choice(ITEM_WORDS[name]), about, default)


_SEED = Setting("seed", click.INT, "Seed of everything random.", "0")

READING = (
    Setting("labels", LABELS, "What words in cells mean; nothing behind the equals sign: missing.", "known scales"),
    Setting("missing", click.STRING, "Codes that stand for missing, as in -99,999.", "empty, NA, NaN, null"),
    Setting("duplicates", click.Choice(DUPLICATES), "What holds where somebody rated something twice.", "error"),
    Setting("sheet", click.STRING, "Sheet of a workbook, or file of a zip archive.", "the first"),
    Setting("time_unit", click.Choice(UNITS), "Unit of the time column.", "s, or what its name says"),
    Setting("rate", POSITIVE, "Frames per second that traces are brought to.", "median rate of the traces"),
    Setting("max_gap", POSITIVE, "Longest gap in a trace, in seconds, to bridge by a line.", "1.5 steps"),
)
LONG_AND_WIDE = (
    Setting("dimension", click.STRING, "Column that names the dimension, where rows hold one number.", "recognised"),
    Setting("value", click.STRING, "Column that holds that number.", "recognised"),
    Setting("annotators_in_columns", click.STRING, "Columns of annotators: names, 'A*', '{dimension}_{annotator}'."),
    Setting("items_in_columns", click.STRING, "Columns that are items, likewise."),
    Setting("without", click.STRING, "Annotators to set aside: names between commas."),
)
IMPORTING = (
    Setting("records", click.STRING, "json: where the records are.", "the elements of the list"),
    Setting("dimension", click.STRING, "json: where a record names its dimension (with value)."),
    Setting("value", click.STRING, "json: where its number is."),
    Setting("kind", click.STRING, "json: where an annotator's kind is, or =judge. inspect: =judge for own scorers."),
    Setting("labels", LABELS, "Numbers of words; nothing behind the equals sign: missing."),
    Setting("duplicates", click.Choice(DUPLICATES), "Which of several answers counts.", "as the tool has it"),
    Setting("time_unit", click.Choice(("s", "ms", "us", "min")), "Unit of time.", "s"),
    Setting("shift", click.FLOAT, "Seconds added to every time of traces.", "0"),
    Setting("rate", POSITIVE, "Samples per second of ELAN's tiers."),
)

STRUCTURE = (
    Setting("tol", _FROM_ZERO, "Relative change of the objective at which EM stops.", "by model"),
    Setting("max_iter", FROM_ONE, "Iterations at most.", "by model"),
    Setting("variance_floor", _FROM_ZERO, "Least variance, of standardised ratings.", "1e-06"),
    Setting("gold_anyway", click.BOOL, "Obey known truths even if they oppose the ratings or their unit.", "false"),
)
ITEMS = (
    _word("transform", "What annotators do to the truth (F_k); curved: the model 'curved'.", "by inference"),
    Setting("regions", FROM_ONE, "Regions of items, of the model 'regions'.", "2"),
    Setting("bias", click.BOOL, "Whether annotators have an offset.", "true"),
    _word("noise", "Form of the annotators' error covariance.", "shared"),
    _word("latent", "Form of the truth's covariance.", "full"),
    _word("inference", "How parameters are estimated.", "bayes"),
    _word("anchor", "What fixes the meaning of a dimension.", "average"),
    Setting(
        "censored", click.BOOL, "Ratings at ends of coarse scales are censored.", "true", "--censored/--uncensored"
    ),
    Setting("slips", click.BOOL, "Judgements and items may differ in precision, where ratings say so.", "true"),
    _word("estimate", "matched: on the scale of the mean of a panel; posterior: the posterior mean.", "matched"),
    _word("interval", "absolute: with the uncertainty of the annotators' level; relative: without.", "absolute"),
    Setting("panel", POSITIVE, "Annotators of that panel; inf: the scale of the truth itself.", "10"),
    Setting("paper", click.BOOL, "As published: one common unit, no intercept, last iteration's variances.", "false"),
    Setting("priors", Parsed("NAME=NUMBER,...", _priors), "Priors that differ from the default's.", "docs/maths.md"),
)
TRACES = (
    Setting("window", _FROM_ZERO, "Seconds that annotators' delays, and with gold filters, reach back.", "3"),
    Setting("lag", _FROM_ZERO, "Mean reaction time of annotators in seconds, which ratings alone cannot show.", "0"),
    Setting("memory", POSITIVE, "Seconds after which the truth's autocorrelation is 1/e.", "estimated"),
    Setting("features_drive", click.BOOL, "Features move the truth up or down instead of being its level.", "false"),
    Setting("width", FROM_ONE, "Filter width in frames, of the published models.", "chosen"),
    Setting("restarts", click.IntRange(min=0), "Random starts, of the published models.", "20"),
    Setting("jobs", click.INT, "Processes at once; -1: one per core.", "1"),
)
WHO = (
    Setting("humans", click.STRING, "Annotators who are people, by patterns of names; others are judges."),
    Setting("reference_kind", click.STRING, "The kind that defines what a dimension means.", "people"),
    Setting("shared", _SHARE, "Share of errors in common, where nothing shows it.", "chosen by known truths or labels"),
)
COPIES = (Setting("copies", click.Choice(COPY_WORDS), "Duplicate annotators: merged as one, or kept.", "merge"),)
CATEGORIES = (Setting("category_model", click.STRING, "A model of docs/categories.md: glad, mace, ...", "auto"),)
CLUSTER = (Setting("scheduler", click.STRING, "Address of an existing cluster of Dask or Ray.", "a local one"),)
ENGINE = (Setting("engine", click.Choice(ENGINE_WORDS), "Who works on folds and models: see docs/scale.md."), *CLUSTER)
SPLITTING = (Setting("folds", click.IntRange(min=2), "Parts that are hidden in turn.", "5"), _SEED)
SELECTION = (
    Setting("select_iteration", click.BOOL, "Keep the iteration that validates best.", "true", "--select/--no-select"),
)
JUDGING = (
    Setting("epsilon", click.FloatRange(0, 1), "How much worse than a person a judge may be to replace one.", "0.2"),
    Setting("repeats", click.STRING, "Column that numbers the answers of one annotator about one item.", "none"),
    _SEED,
)
BOARD = (Setting("level", LEVEL, "Level of all intervals.", "0.9"), _SEED)
DRAWN = (Setting("seed", click.INT, "Seed of the annotators that are drawn.", "0"),)
DRAWS = (_SEED, Setting("matrices", click.BOOL, "Keep the figures of every pair in the JSON.", "false", "--pairs"))
SIMULATED = (
    Setting("features", click.IntRange(min=0), "Features (P).", "500"),
    Setting("noise", _FROM_ZERO, "Sd of the noise; of traces in sds of the annotator's signal.", "0.3; 0.5"),
)
SIMULATED_ITEMS = (
    Setting("ratings_per_item", FROM_ONE, "Annotators per item.", "all"),
    Setting(
        "transform", _LAWS, "Law of F_k: U(0,1); I; I plus normal; one for all, spread off the diagonal.", "uniform"
    ),
    Setting("spread", click.FLOAT, "For near-identity and shared.", "0.3"),
    Setting("bias", _FROM_ZERO, "Sd of offsets.", "0"),
)
SIMULATED_SERIES = (
    Setting("frames", click.IntRange(min=2), "Frames of each recording (T).", "350"),
    Setting("window", FROM_ONE, "Frames of a filter (W).", "10"),
    Setting("rate", POSITIVE, "Frames per second.", "5"),
    Setting("realistic", click.BOOL, "Annotators with a smooth delay, a gain, leakage and a bias.", "false"),
    Setting("correlation", click.FloatRange(-1, 1, min_open=True, max_open=True), "Of the true dimensions.", "0"),
    Setting("autocorrelation", _SHARE, "Of the noise of neighbouring frames.", "0"),
    Setting("spammers", click.IntRange(min=0), "Annotators who trace random walks, or compare by chance.", "0; 3"),
)
SIMULATED_COMPARISONS = (
    Setting("comparisons", FROM_ONE, "How many.", "4000"),
    Setting("flipped", click.IntRange(min=0), "Annotators who compare upside down.", "0"),
    Setting("gains", _FROM_ZERO, "Sd of gains between annotators.", "0.3"),
    Setting("order", _FROM_ZERO, "Sd of order effects.", "0.3"),
    Setting("ties", _FROM_ZERO, "Median threshold of ties; 0 for none.", "0.4"),
)
PAYING = (
    Setting("max_spammer", click.FloatRange(0, 1), "Spammer probability from which a rater is rejected.", "0.9"),
    Setting("max_broken", _PERCENT, "Percent of pages broken for one rater alone; beyond it, look first.", "10"),
    Setting("min_confirmed", _PERCENT, "Percent of the claimed time that is possible; below it, look first.", "50"),
)

MODEL = (*STRUCTURE, *ITEMS, *TRACES, *WHO)
# What `unisono settings` prints: a title with the commands that it holds for, and the settings below it.
PAGE: tuple[tuple[str, str, tuple[Setting, ...]], ...] = (
    ("Reading a table: --read", "every command that reads ratings or items", READING),
    ("Reading ratings of other shapes: --read", "every command that reads ratings", LONG_AND_WIDE),
    ("The model, of items and of traces: --set", "fuse", STRUCTURE),
    ("The model of items: --set", "fuse", ITEMS),
    ("The model of traces: --set", "fuse", TRACES),
    ("Kinds of annotators: --set", "fuse, judges, leaderboard", WHO),
    ("Duplicate annotators: --set", "fuse, compare", COPIES),
    ("Categories: --set", "fuse", CATEGORIES),
    ("Clusters: --set", "fuse, compare, cross-validate; engine is an option of fuse", ENGINE),
    ("Cross-validation: --set", "compare, cross-validate; select_iteration: cross-validate", (*SPLITTING, *SELECTION)),
    ("Judges: --set", "judges", JUDGING),
    ("Leaderboards: --set", "leaderboard", BOARD),
    ("Intervals: --set", "agreement", DRAWS),
    ("Ratings that are enough: --set", "plan", DRAWN),
    ("Simulated ratings: --set", "simulate", SIMULATED),
    ("Simulated ratings of items: --set", "simulate items", SIMULATED_ITEMS),
    ("Simulated traces: --set", "simulate series", SIMULATED_SERIES),
    ("Simulated comparisons: --set", "simulate comparisons; spammers: see traces", SIMULATED_COMPARISONS),
    ("Files of other tools: --read", "import", IMPORTING),
    ("Lists for payment: --set", "collect pay", PAYING),
)
