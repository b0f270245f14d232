"""Tables of the constants of the default for traces: what a change of each does, and a choice without a study."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.accuracy_page import markdown
from benchmarks.studies_page import signed_four
from benchmarks.trace_tables import Rows, error, signed, three

DEFAULT = "as it is"  # the setting that ships


class Choice(NamedTuple):
    """The setting that is best on the other studies, and what a study has under it."""

    setting: str
    vote: float
    over_best: float  # over the best other model
    over_mean: float


def tables(rows: Rows) -> dict[str, str]:
    """Name and markdown of both tables."""
    found = votes_by_setting(rows)
    return {"constants": constants_table(found), "without": without_table(found, other_models(rows))}


def votes_by_setting(rows: Rows) -> dict[str, dict[str, np.ndarray]]:
    """(seeds,) votes of the default, by setting and study; where a setting says nothing of a study, those of the
    default as it is. Settings and studies that were measured in part are left out."""
    votes: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        votes.setdefault(row["part"], {}).setdefault(row["name"], {})[row["seed"]] = row["votes"].get("auto", np.nan)
    usual = votes.get(DEFAULT, {})
    out: dict[str, dict[str, np.ndarray]] = {}
    for setting, studies in votes.items():
        if all(set(studies.get(study, {})) == set(seeds) for study, seeds in usual.items()):
            out[setting] = {
                study: np.array([_known(studies[study][seed], value) for seed, value in seeds.items()])
                for study, seeds in usual.items()
            }
    return out


def _known(value: float, otherwise: float) -> float:
    return otherwise if np.isnan(value) else value


def other_models(rows: Rows) -> dict[str, dict[str, float]]:
    """Mean votes of every other model, by study."""
    out: dict[str, dict[str, list[float]]] = {}
    for row in (row for row in rows if row["part"] == DEFAULT):
        for model, vote in row["votes"].items():
            if model != "auto":
                out.setdefault(row["name"], {}).setdefault(model, []).append(vote)
    return {study: {model: float(np.mean(of)) for model, of in models.items()} for study, models in out.items()}


def constants_table(found: dict[str, dict[str, np.ndarray]]) -> str:
    """Change of the average and of every study by each setting, with standard errors over draws."""
    usual, lines = found.get(DEFAULT, {}), []
    for setting, votes in found.items():
        if setting == DEFAULT:
            continue
        gaps = [votes[study] - usual[study] for study in usual]
        errors = np.array([error(gap) for gap in gaps])
        average = _change(float(np.mean([gap.mean() for gap in gaps])), float(np.sqrt(np.sum(errors**2)) / len(gaps)))
        cells = [_change(gap.mean(), of) if gap.any() else "" for gap, of in zip(gaps, errors, strict=True)]
        lines.append([setting, average, *cells])
    return markdown(["setting", "average", *usual], lines)


def without_table(found: dict[str, dict[str, np.ndarray]], others: dict[str, dict[str, float]]) -> str:
    """Every study under the setting that is best on the other studies."""
    lines, chosen = [], choices(found, others)
    for study, one in chosen.items():
        shipped = three(float(found[DEFAULT][study].mean()))
        lines.append([study, shipped, one.setting, three(one.vote), signed(one.over_best), signed(one.over_mean)])
    if chosen:
        shipped = three(float(np.mean([votes.mean() for votes in found[DEFAULT].values()])))
        average = [float(np.mean([getattr(one, name) for one in chosen.values()])) for name in Choice._fields[1:]]
        lines.append(["average", shipped, "", three(average[0]), *map(signed, average[1:])])
    head = ["study", "default", "best on the others", "the study under it", "minus the best other model", "minus mean"]
    return markdown(head, lines)


def choices(found: dict[str, dict[str, np.ndarray]], others: dict[str, dict[str, float]]) -> dict[str, Choice]:
    """For every study, the setting with the greatest average over all other studies."""
    out = {}
    for study in found.get(DEFAULT, {}):
        average = {
            setting: float(np.mean([of.mean() for name, of in votes.items() if name != study]))
            for setting, votes in found.items()
        }
        best = max(average, key=lambda setting: average[setting])
        vote = float(found[best][study].mean())
        out[study] = Choice(best, vote, vote - max(others[study].values()), vote - others[study]["mean"])
    return out


def _change(value: float, error: float) -> str:
    return f"{signed_four(value)} ± {f'{error:.4f}'.replace('0.', '.', 1)}"
