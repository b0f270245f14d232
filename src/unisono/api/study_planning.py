"""Questions of a running study: how many ratings are enough, what to rate next, how good the ratings are so far.

They are answered from a finished fit, or from ratings that are fused first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unisono.api.comparison_fusion import ComparisonFusion, fuse_comparisons
from unisono.api.fusion import Fusion, fuse
from unisono.api.input_output import rating_table
from unisono.api.rating_questions import check
from unisono.errors import ConvergenceWarning, DataError, DataWarning, taken
from unisono.evaluate.study_quality import Pieces, Quality, early_quality, quality_of, quality_of_pairs
from unisono.fusers import Fit, Fuser, rating_design, revive
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fuser_settings import require_asked
from unisono.fusers.pair_design import next_pairs, plan_comparisons
from unisono.fusers.rating_design import TARGET, Plan
from unisono.fusers.saved_fit import load_fit
from unisono.fusers.trace_fuser import SeriesFuser
from unisono.tables.ratings import Ratings


def plan(fit: Any, *, most: int = 20, seed: int = 0, **reading: Any) -> Plan:
    """The error to expect for more or fewer ratings per item, or annotators per recording, like those of a fit.

    Parameters
    ----------
    fit : Fusion, path, Ratings or data frame
        A fusion, the folder of a saved one, or ratings, which are fused first. Of comparisons a fusion or a folder.
    most : int
        Ratings, or comparisons, per item to look at.
    seed : int
        Decides which annotators are drawn.
    **reading
        How to read a table: the keyword arguments of `read_ratings`.

    Returns
    -------
    Plan
        `.columns()` by number of ratings, `.enough(0.9)` how many reach a correlation.

    Raises
    ------
    DataError
        The ratings cannot be used.

    Examples
    --------
    >>> import unisono as un
    >>> un.plan(un.load_dataset("squality"), most=3).columns()["ratings"].tolist()
    [1, 2, 3]
    """
    require_asked(most=most, seed=seed)
    fuser, known = _fitted(fit, reading)
    if isinstance(fuser, Pairwise):
        return plan_comparisons(fuser, most=most, seed=seed)
    ask = rating_design.plan_annotators if isinstance(fuser, SeriesFuser) else rating_design.plan_ratings
    return ask(fuser, known, most=most, seed=seed)


def next_ratings(
    fit: Any, *, pairs: int | None = None, strategy: rating_design.Strategy = "reduction", **reading: Any
) -> Any:
    """Which items to rate next, by how much uncertainty a rating would remove, and whose ratings tell most.

    Of traces: which recordings, and which `stretches` of them, need another annotator.

    Parameters
    ----------
    fit : Fusion, path, Ratings or data frame
        What it is for `plan`; of comparisons a fusion, or the folder of a saved one.
    pairs : int, optional
        Of comparisons, how many pairs; 10 by default.
    strategy : {"reduction", "uncertainty", "fewest"}
        Of ratings of items, what they are ranked by: how much a rating would tell; by repeated labelling (Sheng,
        Provost and Ipeirotis 2008), the chance that the truth is on the other side of the middle; fewest ratings.
    **reading
        How to read a table: the keyword arguments of `read_ratings`.

    Returns
    -------
    NextRatings or NextPairs
        `.item_columns()` and `.annotator_columns()`, the most useful first. Of comparisons the pairs to show,
        every item in one of them, with sides drawn: `.columns()`.

    Raises
    ------
    DataError
        The ratings cannot be used.

    Examples
    --------
    >>> import unisono as un
    >>> sorted(un.next_ratings(un.load_dataset("squality")).item_columns())
    ['expected_reduction', 'item', 'uncertainty']
    """
    fuser, known = _fitted(fit, reading)
    if isinstance(fuser, Pairwise):
        return next_pairs(fuser, 10 if pairs is None else pairs)
    if pairs is not None:
        raise DataError("Pairs are chosen from a fit of comparisons; this one is of ratings. Leave pairs out.")
    if isinstance(fuser, SeriesFuser):
        return rating_design.next_recordings(fuser, known)
    return rating_design.next_ratings(fuser, known, strategy)


def _fitted(fit: Any, reading: dict[str, Any]) -> tuple[Fuser, Fit]:
    if not isinstance(fit, Fusion | Ratings) and isinstance(fit, str | Path) and Path(fit).is_dir():
        saved = load_fit(Path(fit))
        return revive(saved), saved
    if isinstance(fit, ComparisonFusion):
        return fit.fuser, fit.fit
    result = fit if isinstance(fit, Fusion) else fuse(fit, categories="none", **reading)
    assert isinstance(result, Fusion)  # without categories there are numbers, or the table is refused
    return result.fuser, result.fit


def quality(ratings: Any, *, scale: Any = None, target: float = TARGET, unrated: int = 0, **reading: Any) -> Quality:
    """Agreement, ratings still needed for a correlation of `target`, raters to look at, and the truth so far.

    `ratings`, `scale` and `reading` are those of `check`; `unrated` counts items of the study that nobody has rated
    yet, which need ratings too. While there is too little to compare, `too_early` says so and nothing is fused.
    """
    table = rating_table(ratings, scale, **reading)
    if early := early_quality(table):
        return early
    # What warnings say is among the alerts, and a fit that stopped early is shown for what it is: preliminary.
    with taken(DataWarning, ConvergenceWarning):
        overview = check(table)
        result = fuse(table, categories="none")
        assert isinstance(result, Fusion)  # numbers alone were read
        planned = None if table.is_series else plan(result)
    return quality_of(table, Pieces(overview, result.fused, result.described, planned), target, unrated)


def quality_of_comparisons(comparisons: Any, target: float = TARGET) -> tuple[Quality, ComparisonFusion]:
    """The same of comparisons, and their fusion."""
    with taken(DataWarning, ConvergenceWarning):
        result = fuse_comparisons(comparisons)
    return quality_of_pairs(result.comparisons, result.fuser, result.overview.alerts, target), result
