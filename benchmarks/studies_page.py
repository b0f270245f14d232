"""The tables of docs/accuracy.md about studies: each study one vote, and the averages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy_page import PAGE, fill_page
from benchmarks.study_models import MODELS, PUBLISHED

BASE, DEFAULT = "mean", "auto"
LOSING = -0.005  # Pearson below the mean's from which a study counts as lost


def write_studies(rows: list[dict[str, Any]], fits: int, page: Path = PAGE) -> list[str]:
    """Puts the tables into the page, made of `rows` out of so many `fits`; returns their lines."""
    named = {"made-of": made_of(rows, fits), "studies": study_table(rows), "models": model_table(rows)}
    named["published"] = published_table(rows)
    return fill_page(named, page, "benchmarks.studies")


def made_of(rows: list[dict[str, Any]], fits: int) -> str:
    """What the tables are made of: how many draws and fits, what is missing, and which model runs where."""
    studies = {row["study"] for row in rows}
    draws = {(row["study"], row["per_item"], row["seed"]) for row in rows}
    seeds, code = len({row["seed"] for row in rows}), sorted({row["code"] for row in rows})
    hours = sum(row["seconds"] for row in rows) / 3600
    lines = [
        f"{len(studies)} studies, {len(draws)} draws, {seeds} seeds; {len(rows)} of {fits} fits are done, in "
        f"{hours:.1f} hours of one core; version {', '.join(code)} of the code (a digest)."
    ]
    failed = sorted({f"{row['model']} on {row['study']}" for row in rows if row.get("problem")})
    if failed:
        lines.append(f"Could not be fitted: {', '.join(failed)}.")
    lines += ["", "| model | where it runs | studies |", "| --- | --- | --- |"]
    for model in dict.fromkeys(row["model"] for row in rows):
        rule = MODELS[model].rule if model in MODELS else "every study"
        lines.append(f"| {model} | {rule} | {len({row['study'] for row in rows if row['model'] == model})} |")
    return "\n".join(lines)


def votes(rows: list[dict[str, Any]], model: str, measure: str) -> dict[str, float]:
    """By study: the mean over seeds, then over views with all and with three ratings per item."""
    views: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        if row["model"] == model and row[measure] is not None:
            views.setdefault(row["study"], {}).setdefault(row["per_item"], []).append(row[measure])
    return {study: float(np.mean([np.mean(v) for v in found.values()])) for study, found in views.items()}


def gains(rows: list[dict[str, Any]], model: str, measure: str) -> dict[str, float]:
    """By study: how far the model is above the plain mean; of `error`, the share of it that is gone."""
    own, base = votes(rows, model, measure), votes(rows, BASE, measure)
    both = [study for study in own if study in base]
    if measure == "error":
        return {study: 1 - own[study] / base[study] for study in both if base[study] > 0}
    return {study: own[study] - base[study] for study in both}


def study_table(rows: list[dict[str, Any]], model: str = DEFAULT) -> str:
    """One line per study: what it is, and the model against the mean."""
    lines = [
        "| study | items | annotators | dimensions | Pearson | to the mean | CCC | to the mean | error gone | covered |"
    ]
    lines.append("|" + " --- |" * 10)
    measures = {name: votes(rows, model, name) for name in ("pearson", "ccc", "cover")}
    above = {name: gains(rows, model, name) for name in ("pearson", "ccc", "error")}
    for study in sorted(above["pearson"]):
        row = next(r for r in rows if r["study"] == study and r["model"] == model)
        cells = [study, row["M"], row["K"], row["D"], _plain(measures["pearson"][study])]
        cells += [_signed(above["pearson"][study]), _plain(measures["ccc"].get(study))]
        cells += [_signed(above["ccc"].get(study)), share(above["error"].get(study))]
        cells += [_plain(measures["cover"].get(study), 2)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def model_table(rows: list[dict[str, Any]]) -> str:
    """One line per model: averages over studies, and how many lose to the mean."""
    lines = [
        "| model | studies | Pearson | lose | worst | CCC | error gone, median | covered | Pearson, CCC to auto "
        "| seconds |"
    ]
    lines.append("|" + " --- |" * 10)
    default = {name: gains(rows, DEFAULT, name) for name in ("pearson", "ccc")}
    for model in dict.fromkeys(row["model"] for row in rows):
        if model == BASE:
            continue
        r, ccc, error = (gains(rows, model, name) for name in ("pearson", "ccc", "error"))
        if not r:  # nothing is measured yet
            continue
        worst = min(r, key=lambda study: r[study])
        cells = [model, len(r), _signed(np.mean(list(r.values()))), sum(x < LOSING for x in r.values())]
        cells += [f"{_signed(r[worst])} {worst}", _signed(np.mean(list(ccc.values())))]
        cells += [
            share(np.median(list(error.values()))),
            _plain(np.mean(list(votes(rows, model, "cover").values())), 2),
        ]
        cells += [", ".join(_ahead(found, default[name]) for name, found in (("pearson", r), ("ccc", ccc)))]
        cells += [f"{np.median([row['seconds'] for row in rows if row['model'] == model]):.2f}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def published_table(rows: list[dict[str, Any]]) -> str:
    """One line per study: Pearson, error to the plain mean's, and coverage of the models of other authors."""
    models = [BASE, DEFAULT, *PUBLISHED]
    found = {name: {model: votes(rows, model, name) for model in models} for name in ("pearson", "error", "cover")}
    lines = ["| study | " + " | ".join(models) + " |", "|" + " --- |" * (len(models) + 1)]
    for study in sorted(found["pearson"][DEFAULT]):
        base = found["error"][BASE].get(study)
        cells = [study]
        for model in models:
            r, error, cover = (found[name][model].get(study) for name in found)
            ratio = None if error is None or not base else error / base
            cells.append(", ".join(filter(None, (_plain(r), _plain(ratio, 2), _plain(cover, 2)))))
        lines.append("| " + " | ".join(cells) + " |")
    for name, line in (("Pearson to auto", _to_default), ("error over auto's, median", _over_default)):
        lines.append(f"| {name} | " + " | ".join(line(found, model) for model in models) + " |")
    seconds = (np.median([row["seconds"] for row in rows if row["model"] == m] or [np.nan]) for m in models)
    lines.append("| seconds, median | " + " | ".join(f"{own:.2f}" for own in seconds) + " |")
    return "\n".join(lines)


def _to_default(found: dict[str, dict[str, dict[str, float]]], model: str) -> str:
    """On the studies that both have, and on how many of them the model is ahead."""
    own, default = found["pearson"][model], found["pearson"][DEFAULT]
    away = np.array([own[study] - default[study] for study in own if study in default])
    return f"{_signed(away.mean())}, ahead in {(away > 0).sum()} of {len(away)}" if len(away) else ""


def _over_default(found: dict[str, dict[str, dict[str, float]]], model: str) -> str:
    own, default = found["error"][model], found["error"][DEFAULT]
    ratio = [own[study] / default[study] for study in own if default.get(study)]
    return _plain(float(np.median(ratio)), 2) if ratio else ""


def _ahead(found: dict[str, float], default: dict[str, float]) -> str:
    """How far a model is ahead of the default, over the studies that both have."""
    both = [study for study in found if study in default]
    return _signed(np.mean([found[study] - default[study] for study in both])) if both else ""


def _plain(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}f}".lstrip("0")


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}".replace("0.", ".")


def signed_four(value: float | None) -> str:
    """With a sign and four digits; nothing for what is unknown."""
    return "" if value is None else f"{value:+.4f}".replace("0.", ".", 1)


def share(value: float | None) -> str:
    """In per cent; nothing for what is unknown."""
    return "" if value is None else f"{100 * value:.0f} %"
