"""Warm start: posteriors of annotators from an earlier fit, as priors for a new batch of ratings.

The new batch is fitted in the units and coordinates of the earlier fit: a rating of 3 means the same, and the average
annotator of all batches, not of the last one, is the measure. What the earlier fit knows of an annotator is worth as
many ratings as it came from; so is what it knows of truths, errors and biases in general.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers.standardisation import Scaling
from unisono.maths.items import annotator_rows, censored_answers, item_params
from unisono.maths.items.annotator_levels import tails
from unisono.maths.items.bayes_bound import BayesSettings, KnownAnnotators, Targets
from unisono.tables import Ratings, answer_scale, labels

if TYPE_CHECKING:
    from unisono.fusers.joint_items import Joint


LEAST_PRIOR_VARIANCE = 1e-8  # numerical: least of a coefficient's variance taken over from there: fixed ones have none


class PriorFit(NamedTuple):
    """What a fit knows that holds beyond its own items; everything in its standardised units."""

    annotators: tuple[str, ...]
    dimensions: tuple[str, ...]
    judgements: np.ndarray  # (K,) behind each annotator, earlier batches included
    items: int  # behind the covariance of truths, earlier batches included
    params: item_params.ItemParams  # with the newcomer
    scaling: Scaling
    scale: answer_scale.Scale  # of answers and truth, in the user's units
    ends: censored_answers.EndAnswers | None = None  # where answers that are kinds are read as "here or beyond"


def prior_fit_of(fuser: Joint) -> PriorFit:
    """What holds beyond the items of a fit, for fits of later batches."""
    fuser.require_fitted()
    if not fuser.trace_.converged:
        raise DataError(
            f"The earlier fit did not settle: EM stopped after {fuser.trace_.iterations} iterations, and what it says "
            "of annotators would be taken for known. Fuse its ratings again with a larger max_iter (--max-iter), or "
            "fuse all ratings together."
        )
    return PriorFit(
        annotators=fuser.annotators_,
        dimensions=fuser.dimensions_,
        judgements=fuser.judgements_,
        items=fuser.items_behind_,
        params=fuser.params_,
        scaling=fuser.scaling_,
        scale=fuser.scale_,
        ends=None if fuser.ends_ is None else fuser.ends_.ends,
    )


def evidence_counts(
    judgements: np.ndarray, items: int, annotators: tuple[str, ...], earlier: PriorFit | None
) -> tuple[np.ndarray, int]:
    """Judgements behind each annotator (K,) and items in all, those of earlier batches included."""
    if earlier is None:
        return judgements, items
    place = {label: k for k, label in enumerate(annotators)}
    total = judgements.copy()
    np.add.at(total, [place[label] for label in earlier.annotators], earlier.judgements)
    return total, items + earlier.items


def with_earlier_annotators(ratings: Ratings, earlier: PriorFit) -> Ratings:
    """The ratings with the annotators of the earlier fit among their annotators, so that nobody is forgotten."""
    absent = absent_annotators(ratings.annotators, ratings.dimensions, ratings.source, earlier)
    return ratings.with_annotators((*ratings.annotators, *absent)) if absent else ratings


def absent_annotators(
    annotators: tuple[str, ...], dimensions: tuple[str, ...], source: str, earlier: PriorFit
) -> tuple[str, ...]:
    """Annotators of the earlier fit who are not among these, if it has the dimensions of the ratings."""
    if dimensions != earlier.dimensions:
        raise DataError(
            f"{source} has the dimensions {labels.listed(dimensions)}, the fit to start from has "
            f"{labels.listed(earlier.dimensions)}: they have to be the same, in the same order."
        )
    return require_shared_annotators(annotators, source, earlier.annotators)


def require_shared_annotators(annotators: tuple[str, ...], source: str, earlier: tuple[str, ...]) -> tuple[str, ...]:
    """Those of an earlier fit who are not among these annotators; a DataError where none of them is."""
    present = set(annotators)
    if present.isdisjoint(earlier):
        close = [(name, like) for name in annotators if (like := labels.nearest(name, earlier)) is not None]
        alike = f" Is '{close[0][0]}' the earlier '{close[0][1]}'?" if close else ""
        raise DataError(
            f"{source} has no annotator of the fit to start from, which knows {labels.listed(earlier, 8)}; here "
            f"there is {labels.listed(annotators, 8)}.{alike} Call them alike, or leave out --start."
        )
    return tuple(label for label in earlier if label not in present)


def continued(settings: BayesSettings, earlier: PriorFit, annotators: tuple[str, ...]) -> BayesSettings:
    """Settings of the new batch with everything the earlier fit knows as prior."""
    place = {label: k for k, label in enumerate(earlier.annotators)}
    newcomer = len(earlier.annotators)
    row = np.array([place.get(label, newcomer) for label in annotators], dtype=np.int64)
    known = row < newcomer
    params, pool = earlier.params, earlier.params.N[-1]
    assert params.cov is not None
    D, q = params.B.shape[1:]
    spread = params.cov[row] + LEAST_PRIOR_VARIANCE * np.eye(q)
    rows = annotator_rows.RowPrior(params.B[row], np.linalg.inv(spread), np.zeros((len(row), D, D)))
    scale = params.N[:, 0, 0] / pool[0, 0]
    numbers = np.append(earlier.judgements * D, 0.0)
    priors = settings.priors
    total = float(earlier.judgements.sum())
    return settings._replace(
        earlier=KnownAnnotators(known, rows, scale[row], numbers[row]),
        told_apart=1.0,
        scales=None,
        targets=Targets(params.Sigma, pool, np.diag(params.cov[-1, :, -1, -1] / tails(priors.bias_freedom))),
        priors=priors._replace(
            latent_items=priors.latent_items + earlier.items,
            noise_share=0.0,
            bias_annotators=priors.bias_annotators + int((earlier.judgements > 0).sum()),
        ),
        anchored=False,
        earlier_judgements=total,
    )
