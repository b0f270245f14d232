"""Are the dimensions of ratings correlated, and does that differ between annotators? Heat maps of the data at hand.

The corpora of the paper's figures (IEMOCAP, SEMAINE, RECOLA, the film corpus) cannot be had without an agreement. The
same is drawn for the bundled sets (summaries, a film) and, where they are there, the news headlines.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from unisono.maths.metrics import pearson, resample_counts
from unisono.paper import experiment_claims, experiment_data
from unisono.paper.experiment_page import Heat, heat_row
from unisono.tables.datasets import load_dataset
from unisono.tables.ratings import Ratings
from unisono.tables.reading.ratings_reader import read_ratings

NAME = "correlations"
ANNOTATORS = 4  # shown for each corpus, as in the paper
BLOCK = 60  # seconds of a trace that are resampled together; neighbouring frames are one opinion
RESAMPLES = 1000
TITLES = {"squality": "summaries (SQuALITY)", "forrest_gump": "film (Forrest Gump)", "affective-text": "news headlines"}
_SAID = experiment_claims.Words(NAME, annotators=ANNOTATORS)


def run_corpus(corpus: str, folder: str, seed: int, sums: experiment_claims.Numbers) -> experiment_claims.Numbers:
    """Correlations of all pairs of dimensions, with intervals, for everybody together and for each annotator."""
    ratings = read_ratings(Path(folder) / "ratings.csv") if folder else load_dataset(corpus)
    group, who, value = grouped_values(ratings)
    rng = np.random.default_rng(seed)
    pairs = [(d, e) for d in range(ratings.D) for e in range(d)]
    overall = {
        f"{ratings.dimensions[d]}, {ratings.dimensions[e]}": _interval(value[:, [d, e]], group, rng) for d, e in pairs
    }
    counts = np.bincount(who, minlength=ratings.K)
    busiest = np.argsort(-counts, kind="stable")[:ANNOTATORS]
    return {
        "dimensions": list(ratings.dimensions),
        "matrix": _matrix(value).tolist(),
        "pairs": overall,
        "annotators": {ratings.annotators[k]: _matrix(value[who == k]).tolist() for k in np.sort(busiest)},
        "heterogeneity": [heterogeneity(value[:, [d, e]], group, who) for d, e in pairs],
    }


def grouped_values(ratings: Ratings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is resampled together (an item, or a stretch of a trace), who said it, and the numbers (S, D)."""
    frames = ratings.length[ratings.item_of]
    who = np.repeat(ratings.annotator_of, frames)
    if ratings.clock is None:
        return np.asarray(ratings.item_of, dtype=np.int64), who, ratings.value
    per_block = int(BLOCK * ratings.clock.rate)
    first = np.concatenate([[0], np.cumsum(-(-ratings.length // per_block))[:-1]])
    within = np.concatenate([np.arange(T) // per_block for T in frames])
    return np.repeat(first[ratings.item_of], frames) + within, who, ratings.value


def heterogeneity(value: np.ndarray, group: np.ndarray, who: np.ndarray) -> float:
    """P-value of annotators having one and the same correlation: Cochran's Q of Fisher's z, over independent groups.

    A stretch of a trace counts as one observation, its mean.
    """
    from scipy.stats import chi2

    z, weight = [], []
    for k in np.unique(who):
        mine = who == k
        _, place = np.unique(group[mine], return_inverse=True)
        means = np.stack([np.bincount(place, column) / np.bincount(place) for column in value[mine].T], axis=1)
        r = pearson(means[:, 0], means[:, 1])
        if len(means) > 5 and abs(r) < 1:
            z.append(np.arctanh(r))
            weight.append(len(means) - 3)
    if len(z) < 2:
        return float("nan")
    zs, w = np.array(z), np.array(weight, dtype=np.float64)
    q = float(w @ (zs - w @ zs / w.sum()) ** 2)
    return float(chi2.sf(q, len(zs) - 1))


def units(settings: experiment_claims.Settings) -> list[experiment_claims.Unit]:
    found = [
        experiment_claims.Unit(name, run_corpus, {"corpus": name, "folder": "", "seed": settings.seed, "sums": {}})
        for name in ("squality", "forrest_gump")
    ]
    folder = experiment_data.affective_text(settings.data.get("items-real"))
    if folder is not None:
        sums = experiment_data.file_sums(folder, ("ratings.csv",))
        given = {"corpus": "affective-text", "folder": str(folder), "seed": settings.seed, "sums": sums}
        found.append(experiment_claims.Unit("affective-text", run_corpus, given))
    return found


def report(
    settings: experiment_claims.Settings, results: Mapping[str, experiment_claims.Numbers]
) -> experiment_claims.Chapter:
    return experiment_claims.Chapter(
        lead=(_SAID("lead"),),
        tables=(),
        pictures=(
            experiment_claims.Picture(
                NAME,
                _SAID("corpora"),
                lambda: heat_row(
                    [_heat(TITLES[name], found, found["matrix"]) for name, found in results.items()], _BAR
                ),
            ),
            *(_annotator_picture(name, found) for name, found in results.items()),
        ),
        claims=_claims(results),
        summary={
            name: {"pairs": found["pairs"], "heterogeneity": found["heterogeneity"]} for name, found in results.items()
        },
    )


_BAR = "absolute correlation"


def _annotator_picture(name: str, found: experiment_claims.Numbers) -> experiment_claims.Picture:
    return experiment_claims.Picture(
        f"{NAME}-{name}-annotators",
        _SAID("annotators", title=TITLES[name]),
        lambda: heat_row([_heat(f"annotator {k}", found, m) for k, m in found["annotators"].items()], _BAR),
    )


def _heat(title: str, found: experiment_claims.Numbers, matrix: list[list[float]]) -> Heat:
    return Heat(title, np.abs(np.array(matrix)), found["dimensions"], found["dimensions"])


def _claims(results: Mapping[str, experiment_claims.Numbers]) -> tuple[experiment_claims.Claim, ...]:
    parts = []
    for name, found in results.items():
        sure = sum(low > 0 or high < 0 for _, low, high in found["pairs"].values())
        sizes = [abs(r) for r, _, _ in found["pairs"].values()]
        text = f"{sure} of {len(sizes)} pairs, absolute correlations {min(sizes):.2f} to {max(sizes):.2f}"
        parts.append(experiment_claims.ClaimPart(TITLES[name], text, sure >= 0.9 * len(sizes)))
    differ = []
    for name, found in results.items():
        p = [value for value in found["heterogeneity"] if not np.isnan(value)]
        count = sum(value < 0.05 / len(p) for value in p)
        differ.append(
            experiment_claims.ClaimPart(
                TITLES[name], f"{count} of {len(p)} pairs, smallest p = {min(p):.2g}", count > 0
            )
        )
    return (
        _SAID.judge("nonzero", parts, _SAID("others")),
        _SAID.judge("heterogeneous", differ, _SAID("others")),
        _SAID.untestable("inconsistent"),
    )


def _interval(pair: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float]:
    """Pearson, and the ends of its 95 % interval when groups are resampled."""
    known = ~np.isnan(pair).any(axis=1)
    x, y, g = pair[known, 0], pair[known, 1], group[known]
    x, y = x - x.mean(), y - y.mean()
    sums = np.stack([np.bincount(g, column) for column in (np.ones_like(x), x, y, x * x, y * y, x * y)])
    counts = resample_counts(sums.shape[1], RESAMPLES, rng)
    n, sx, sy, sxx, syy, sxy = sums @ counts.T
    drawn = (sxy / n - sx * sy / n**2) / np.sqrt((sxx / n - (sx / n) ** 2) * (syy / n - (sy / n) ** 2))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return pearson(x, y), float(low), float(high)


def _matrix(value: np.ndarray) -> np.ndarray:
    D = value.shape[1]
    return np.array([[1.0 if d == e else pearson(value[:, d], value[:, e]) for e in range(D)] for d in range(D)])


EXPERIMENT = experiment_claims.Experiment(
    NAME, "Correlations between dimensions", "Sec. 2 (Motivation) and App. A.1", units, report
)
