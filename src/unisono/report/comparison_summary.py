"""The summary of fused comparisons: plain values for summary.json, and the text that `fuse` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.evaluate.alerts import said
from unisono.evaluate.comparison_overview import ComparisonOverview, connectedness
from unisono.fusers.compared_copies import CopiedAnswers
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fusion_results import Fused
from unisono.tables.labels import counted, listed

SUSPECT = 0.9  # probability above which an annotator is named
SHOWN = 3  # items named at either end
CLEAR_ORDER = 3.0  # deviations of the average order effect from 0 beyond which it is said


def summarise_comparisons(
    found: ComparisonOverview, fuser: Pairwise, fused: Fused, copies: Sequence[CopiedAnswers] = ()
) -> dict[str, Any]:
    """What summary.json says."""
    columns, hyper = fuser.comparison_columns(), fuser.hyper_
    names = np.array(columns["annotator"], dtype=object)
    order_error = float(np.sqrt(hyper.order_var / max(len(names), 1)))
    return {
        "read": found.to_dict(),
        "reading": found.comparisons.lines(),
        "connected": connectedness(found),
        "dimensions": {
            name: {
                "typical_sd": round(float(np.median(fused.sd[:, d])), 4),
                "spread": round(float(np.sqrt(hyper.Sigma[d, d]) * fuser.scaling_.scale[d]), 4),
                "unit": "logits" if not fuser.is_rated(d) else "on the scale of the ratings",
                "logits_per_unit": round(float(hyper.unit[d] / fuser.scaling_.scale[d]), 4),
                "highest": _ends(found, fused, d, -1),
                "lowest": _ends(found, fused, d, 1),
            }
            for d, name in enumerate(fused.dimensions)
        },
        "order_effect": None if not found.comparisons.sided else round(float(hyper.order), 4),
        "order_effect_clear": bool(found.comparisons.sided and abs(hyper.order) > CLEAR_ORDER * order_error),
        "gain_sd": round(float(np.sqrt(hyper.gain_var)), 4),
        "expected_spammers": round(float(columns["comparison_spammer"].sum()), 2),
        "spammers": list(names[columns["comparison_spammer"] > SUSPECT]),
        "flipped": list(names[columns["comparison_flipped"] > SUSPECT]),
        "copies": [one._asdict() | {"annotators": list(one.annotators)} for one in copies],
        **fuser.notes(),
        "em": fuser.trace_.path() | {"stop": fuser.trace_.stop, "iterations": fuser.trace_.iterations},
    }


def _ends(found: ComparisonOverview, fused: Fused, d: int, sign: int) -> list[str]:
    """The highest or the lowest items of the largest component; with ratings, of all."""
    alone = len(fused.items) == len(found.component)
    inside = np.flatnonzero(found.component == 0) if alone else np.arange(len(fused.items))
    order = inside[np.argsort(sign * fused.mean[inside, d], kind="stable")]
    return [fused.items[m] for m in order[: min(SHOWN, len(inside) // 2)]]


def summary_lines(data: dict[str, Any]) -> list[str]:
    """The summary as a person reads it."""
    lines = [*data["reading"], data["connected"]]
    for name, one in data["dimensions"].items():
        ends = {end: listed(one[end]) for end in ("highest", "lowest")}
        lines.append(said("pairs", "truths", name=name, **one | ends))
        if one["unit"] != "logits":
            lines.append(f"  A unit of it is {one['logits_per_unit']:.2g} logits of a comparison.")
    lines += [said("pairs", "gold", name=name, **one) for name, one in data.get("gold", {}).items()]
    kinds = data.get("kinds", {"others": ()})
    for row in kinds["others"]:
        people = counted(row["annotators"], "annotator")
        lines.append(said("pairs", "kind", reference=kinds["reference"], people=people, **row))
    if data["order_effect_clear"]:
        side = "left" if data["order_effect"] > 0 else "right"
        lines.append(f"Order effect: on average the {side} item gains {abs(data['order_effect']):.2f} logits.")
    spammers = {"listed": listed(data["spammers"]), "above": SUSPECT, "expected": data["expected_spammers"]}
    lines.append(said("pairs", "spammers" if data["spammers"] else "no_spammer", **spammers))
    if data["flipped"]:
        lines.append(f"Annotators who answer upside down (probability above {SUSPECT:g}): {listed(data['flipped'])}.")
    lines += [copies_line(one) for one in data["copies"]]
    em = data["em"]
    if em["stop"] != "converged":
        lines.append(f"EM stopped after {em['iterations']} iterations before it converged: raise max_iter.")
    return lines


def copies_line(one: dict[str, Any]) -> str:
    """Who was merged, and why."""
    return said("pairs", "copies", who=listed(one["annotators"]), **one)
