"""Estimates, judges and systems by what people say: `un.score`, `un.judges` and `un.leaderboard`.

A truth is scored against a reference by its numbers, by classes of categories, or both. Judges (language models and
other automatic raters) are compared with the people who rated the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unisono.api import category_fusion, fusion, input_output
from unisono.errors import DataError, NoNumbersError
from unisono.evaluate.comparison_results import truth_table
from unisono.fusers import Fused, category_models, fuser_settings
from unisono.report.notebook_progress import watching_steps
from unisono.tables import ItemTable, RatingNumbers, Ratings, annotator_kinds, comparisons, labels
from unisono.tables.reading import clock_alignment, side_information

if TYPE_CHECKING:
    from unisono.evaluate.judge_figures import RepeatedAnswers
    from unisono.evaluate.judges_beside_people import JudgesReport
    from unisono.evaluate.leaderboard_results import Leaderboard
    from unisono.evaluate.scoring import Scores


Classes = dict[str, dict[str, str]]  # dimension -> item -> class
Probabilities = dict[str, dict[str, dict[str, float]]]  # dimension -> item -> class -> probability


class _Told(NamedTuple):
    """The classes that a truth or a reference has."""

    of: Classes
    probability: Probabilities


def score(truth: Any, reference: Any, *, categories: Any = None, **reading: Any) -> Scores:
    """How close a truth comes to a reference, dimension by dimension, on the items that both have.

    Series are compared on the truth's clock. Columns of words are classes: they are compared by accuracy and macro F1,
    and by log loss and calibration where their probabilities are known.

    Parameters
    ----------
    truth : Fusion, Fused, ItemTable, path or data frame
        What `fuse` gave, the folder of a saved fusion, or a table of estimates; truth.csv is read with categories.csv.
    reference : Fusion, Fused, ItemTable, path or data frame
        What is known.
    categories : str or sequence of str, optional
        Columns that are classes, whatever they hold, or 'none'.
    **reading
        How to read tables: the keyword arguments of `read_item_table`.

    Returns
    -------
    Scores
        `.dimensions` (CCC, Pearson, RMSE, Spearman) and `.categories`.

    Raises
    ------
    DataError
        They share no item or no dimension.

    Examples
    --------
    >>> import pandas as pd, unisono as un
    >>> known = pd.DataFrame({"item": [1, 2, 3], "valence": [1.0, 2.0, 4.0]})
    >>> un.score(known, known).dimensions[0].ccc
    1.0
    """
    from unisono.evaluate.scoring import Scores, score_categories

    if truth is None or reference is None:
        what = "a truth: a result, or a table of estimates" if truth is None else "a reference: a table of items whose"
        raise DataError(f"A score needs {what}{'' if truth is None else ' truth is known'}.")
    ours, theirs = _file_of(truth), reference
    names = [categories] if isinstance(categories, str) else None if categories is None else list(categories)
    read_once = any(isinstance(one, str) and one == "-" for one in (ours, theirs))  # standard input, by the numbers
    wanted = not read_once and names != ["none"]
    told = [_classes_of(one, names, reading) if wanted else _Told({}, {}) for one in (ours, theirs)]
    classes = score_categories(told[0].of, told[1].of, told[0].probability)
    try:
        numbers = _number_scores(ours, theirs, [one.name for one in classes], reading)
    except NoNumbersError:
        if not classes:
            raise
        return Scores((), max(one.n for one in classes), (), (), (), categories=classes)
    return numbers.with_categories(classes)


def _number_scores(ours: Any, theirs: Any, words: list[str], reading: dict[str, Any]) -> Scores:
    from unisono.evaluate.scoring import score_tables

    if isinstance(ours, category_fusion.CategoryFusion | category_models.FusedCategories):
        raise NoNumbersError("The truth holds categories alone, and the reference has no column of their names.")
    return score_tables(*(_numbers_of(one, words, reading) for one in (ours, theirs)), align=clock_alignment.align_to)


def _file_of(truth: Any) -> Any:
    """The truth.csv of a folder; anything else as it is."""
    return Path(truth) / "truth.csv" if isinstance(truth, str | Path) and Path(truth).is_dir() else truth


def _classes_of(source: Any, names: list[str] | None, reading: dict[str, Any]) -> _Told:
    if isinstance(source, fusion.Fusion | category_fusion.CategoryFusion):
        return _Told({}, {}) if source.chosen is None else _classes_of(source.chosen.fused, names, reading)
    if isinstance(source, category_models.FusedCategories):
        return _fused_classes(source)
    if isinstance(source, Fused | ItemTable):
        return _Told({}, {})
    found = side_information.read_item_classes(
        source, item=reading.get("item"), names=names, sheet=reading.get("sheet")
    )
    return _Told(found, side_information.read_probabilities(source) if isinstance(source, str | Path) else {})


def _fused_classes(fused: category_models.FusedCategories) -> _Told:
    of: Classes = {}
    probability: Probabilities = {}
    for one in fused:
        rows = [(m, item) for m, item in enumerate(fused.items) if one.answered[m]]
        of[one.name] = {item: one.classes[one.best[m]] for m, item in rows}
        probability[one.name] = {
            item: dict(zip(one.classes, one.probability[m].tolist(), strict=True)) for m, item in rows
        }
    return _Told(of, probability)


def _numbers_of(source: Any, words: list[str], reading: dict[str, Any]) -> ItemTable:
    """A truth or a reference, from a result or from a table, without columns of words."""
    if isinstance(source, ItemTable):
        return source
    if isinstance(source, fusion.Fusion | Fused):
        return truth_table(source.fused if isinstance(source, fusion.Fusion) else source)
    return side_information.read_item_numbers(source, words, **reading)


def leaderboard(
    table: Any,
    by: str | Mapping[str, str] | None = None,
    prompt: str | Mapping[str, str] | None = None,
    *,
    items: Any = None,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    humans: str | Sequence[str] | None = None,
    reference_kind: str | None = None,
    weights: Mapping[str, float] | None = None,
    these: str | Sequence[str] = (),
    level: float = 0.9,
    seed: int = 0,
    **reading: Any,
) -> Leaderboard:
    """Which system is best, and which differences are real: means, simultaneous intervals, ranks.

    Parameters
    ----------
    table : Ratings, Comparisons, path or data frame
        Scores: ratings as of `fuse`, or numbers (pass or fail) without annotators; or comparisons of systems.
    by : str or mapping, optional
        The column that names the system of a row, or a mapping from items to systems; left out where the table holds
        comparisons whose items are the systems.
    prompt : str or mapping, optional
        Likewise, what systems were asked, so that they are paired; the item, where systems share items.
    items : path or data frame, optional
        A table with these columns.
    kinds, humans, reference_kind
        Who is what, as in `fuse`: people define the means, judges make them more precise.
    weights : mapping, optional
        Weights of dimensions; adds their weighted mean as the dimension 'overall'.
    these : str or sequence of str
        'prompts', 'people', or both: statements about these very ones, not about others of the kind.
    level : float
        Of all intervals.
    seed : int
        Of the draws that critical values and probabilities come from.
    **reading
        How to read the table: keyword arguments of `read_ratings`.

    Returns
    -------
    Leaderboard
        With the frames `systems`, `differences` and `variances`, `summary()` and `save(directory)`.

    Raises
    ------
    DataError
        There is one system, nothing says what was scored, or no comparisons connect systems.

    Examples
    --------
    >>> import numpy as np, pandas as pd, unisono as un
    >>> prompt, system = np.repeat(range(50), 3), np.tile(["a", "b", "c"], 50)
    >>> right = np.random.default_rng(0).random(150) < np.tile([0.9, 0.5, 0.5], 50)
    >>> board = un.leaderboard(pd.DataFrame({"prompt": prompt, "system": system, "right": right}), "system", "prompt")
    >>> board.differences["clear"].tolist()
    [True, True, False]
    """
    from unisono.evaluate.system_leaderboard import measure_leaderboard
    from unisono.tables.reading.scores_of_systems import read_scores

    fuser_settings.require_asked(level=level, seed=seed)
    if by is None or isinstance(table, comparisons.Comparisons):
        refused = {
            "kinds": kinds,
            "humans": humans,
            "reference_kind": reference_kind,
            "weights": weights,
            "items": items,
        }
        return _with_page(_of_comparisons(table, by, prompt, refused | reading, these=these, level=level, seed=seed))
    scores = read_scores(table, by, prompt, items=items, **reading)
    known = replace(scores, ratings=annotator_kinds.with_kinds(scores.ratings, kinds, humans))
    found = measure_leaderboard(
        known, reference_kind=reference_kind, weights=weights, these=these, level=level, seed=seed
    )
    return _with_page(found)


def _of_comparisons(
    table: Any, by: str | Mapping[str, str] | None, prompt: Any, refused: Mapping[str, Any], **how: Any
) -> Leaderboard:
    """From comparisons, whose items are systems or belong to them."""
    from unisono.evaluate.comparison_leaderboard import measure_compared
    from unisono.tables.reading.comparisons_reader import column_of_rows, read_comparisons

    if names := [name for name, value in refused.items() if value is not None]:
        raise DataError(f"{labels.listed(names)} cannot be used with comparisons. Leave them out.")
    if isinstance(by, str):
        raise DataError(f"Comparisons are of items: give a mapping from items to systems, not the column '{by}'.")
    asked = None if prompt is None else column_of_rows(table, prompt)
    try:
        pairs = read_comparisons(table)
    except DataError as error:
        raise DataError(
            f"{error} Where no column of systems is named (--by) the table has to hold comparisons."
        ) from error
    return measure_compared(pairs, system_of=by, prompt_of=asked, **how)


def _with_page(found: Leaderboard) -> Leaderboard:
    """Which draws its report when it is saved."""
    from unisono.report.report_page import leaderboard_page

    return replace(found, page=leaderboard_page)


def judges(
    ratings: Any,
    *,
    kinds: Mapping[str, str | Sequence[str]] | None = None,
    humans: str | Sequence[str] | None = None,
    reference_kind: str | None = None,
    by: str | Mapping[str, str] | None = None,
    prompt: str | Mapping[str, str] | None = None,
    items: Any = None,
    covariates: str | Sequence[str] | RatingNumbers | None = None,
    repeats: str | None = None,
    reading: Mapping[str, Any] | None = None,
    shared: float | None = None,
    epsilon: float = 0.2,
    seed: int = 0,
    on_step: Callable[[int, float], None] | None = None,
) -> JudgesReport:
    """Judges beside people: each judge, the panel, whether they may replace people, what to label next.

    Parameters
    ----------
    ratings : Ratings, path or data frame
        Answers of people and of judges.
    kinds, humans
        Who is what, as in `fuse`.
    reference_kind : str, optional
        The kind that defines what a dimension means; people by default.
    by : str or mapping, optional
        The column that says which system an item belongs to, in the ratings or in `items`, or a mapping from items to
        systems; adds their `leaderboard`.
    prompt : str or mapping, optional
        Likewise, which items answer the same prompt.
    items : path or data frame, optional
        A table with these columns.
    covariates : str or sequence of str, optional
        As in `fuse`: effects of length or position on every judge; a column that names batches shows drift.
    repeats : str, optional
        The column that numbers the answers of one annotator about one item: their mean counts, and how far they differ
        is the judge's consistency.
    reading : mapping, optional
        How to read the ratings: keyword arguments of `read_ratings`.
    shared : float, optional
        Setting of the model 'groups': the share of their errors that judges have in common.
    epsilon : float
        Of the alternative annotator test: how much worse than a person a judge may be and still replace one.
    seed : int
        Of the leaderboard's draws.
    on_step : callable, optional
        Called after every iteration.

    Returns
    -------
    JudgesReport
        It prints itself; `.tables()` are what `unisono judges --out` writes.

    Raises
    ------
    DataError
        There are no judges, or no people.

    Examples
    --------
    >>> import numpy as np, pandas as pd, unisono as un
    >>> item, who = np.repeat(range(30), 4), np.tile(["ann", "ben", "eva", "gpt-1"], 30)
    >>> score = item % 7 + np.random.default_rng(0).normal(0, 0.5, 120)
    >>> report = un.judges(pd.DataFrame({"item": item, "annotator": who, "score": score}), kinds={"judge": "gpt-*"})
    >>> sorted(report.tables())[0]
    'groups.csv'
    """
    from unisono.evaluate.judges_beside_people import measure_judges
    from unisono.tables.reading.scores_of_systems import item_words

    fuser_settings.require_asked(epsilon=epsilon, seed=seed)
    how = dict(reading or {})
    again = None if repeats is None else _repeated(ratings, repeats, how, covariates)
    if again is None:
        table = ratings if isinstance(ratings, Ratings) else input_output.rating_table(ratings, **how)
    else:
        table = again.merged()
    if prompt is not None and by is None:
        raise DataError("prompt= says which items of different systems belong together: give by= as well.")
    numbers = input_output.covariate_table(ratings, covariates, how)
    with watching_steps("Estimating", on_step) as watcher:
        found = measure_judges(
            annotator_kinds.with_kinds(input_output.without_covariates(table, numbers), kinds, humans),
            covariates=numbers,
            reference_kind=reference_kind,
            shared=shared,
            system_of=item_words(ratings, items, by, "system", how),
            cluster_of=item_words(ratings, items, prompt, "prompt", how),
            epsilon=epsilon,
            seed=seed,
            again=again,
            on_step=watcher,
        )
    return found if found.systems is None else replace(found, systems=_with_page(found.systems))


def _repeated(source: Any, repeats: str, how: dict[str, Any], covariates: Any) -> RepeatedAnswers:
    """The table with an annotator for every repetition."""
    from unisono.evaluate.judge_figures import RepeatedAnswers
    from unisono.tables.reading.table_layout import split_label

    if isinstance(source, Ratings) or (isinstance(source, str) and source == "-"):
        raise DataError("Repetitions are a column of a table of ratings: give the table, as a file or a data frame.")
    if covariates is not None:
        raise DataError("Covariates are of single answers, repeats= takes their mean: give one of the two.")
    reading = input_output.rating_table(source, **(how | {"duplicates": "first"})).reading
    assert reading is not None
    apart = input_output.rating_table(source, **(how | {"annotator": [reading.annotator, repeats]}))
    return RepeatedAnswers(apart, tuple(split_label(name)[0] for name in apart.annotators))
