"""The report of fused comparisons: its numbers as plain data, which `comparisons.html` makes a page of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from unisono.evaluate.agreement_measure import Drawing
from unisono.evaluate.comparison_overview import ComparisonOverview
from unisono.evaluate.pair_agreement import PairAgreement, most_compared, pair_agreement, win_shares
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fusion_results import Fused
from unisono.report.comparison_summary import copies_line
from unisono.report.report_data import DRAWS, FORMAT
from unisono.tables.comparisons import Comparisons
from unisono.tables.labels import counted, listed

MOST_WINS = 12  # items of the win matrix
MOST_ROWS = 500  # of tables; truth.csv and the tables of annotators have all


def build_comparison_dossier(
    compared: Comparisons,
    overview: ComparisonOverview,
    fuser: Pairwise,
    fused: Fused,
    summary: dict[str, Any],
    command: str | None = None,
) -> dict[str, Any]:
    """What report.json holds."""
    agreed = pair_agreement(compared, Drawing(DRAWS, 0.95, 0))
    alerts = [{"kind": one.kind, "severity": one.severity, "message": one.message} for one in overview.alerts]
    return {
        "format": FORMAT,
        "created": datetime.now(UTC).date().isoformat(),
        "command": command,
        "kind": "comparisons",
        "source": compared.source,
        "dimensions": list(fused.dimensions),
        "summary": summary,
        "alerts": alerts + _copies(summary) + _contradictions(agreed),
        "agreement": agreed.to_dict() | {"lines": agreed.lines()[1:]},
        "wins": [_wins(compared, fused, d) for d in range(len(compared.dimensions))],
        "truth": _truths(compared, fused),
        "people": _people(fuser, agreed),
        "methods": _methods(compared, overview, fuser, summary, agreed),
    }


def _copies(summary: dict[str, Any]) -> list[dict[str, str]]:
    return [{"kind": "copies", "severity": "warning", "message": copies_line(one)} for one in summary["copies"]]


def _contradictions(agreed: PairAgreement) -> list[dict[str, str]]:
    if not agreed.intransitive:
        return []
    message = f"{listed(agreed.intransitive)} contradict themselves in triads about as often as chance does."
    return [{"kind": "intransitive", "severity": "note", "message": message}]


def _wins(compared: Comparisons, fused: Fused, d: int) -> dict[str, Any]:
    """Shares of answers for the item in the row, of the items that were compared most, the best first."""
    place = {item: m for m, item in enumerate(fused.items)}
    named = compared.dimensions[d] if compared.dimensions[d] in fused.dimensions else fused.dimensions[0]
    own = fused.mean[[place[item] for item in compared.items], fused.dimensions.index(named)]
    items = most_compared(compared, own, MOST_WINS)
    shares = win_shares(compared, d, items)
    return {
        "dimension": named,
        "items": [compared.items[m] for m in items],
        "of": len(compared.items),
        "shares": [[float(x) if np.isfinite(x) else None for x in row] for row in shares],
    }


def _truths(compared: Comparisons, fused: Fused) -> dict[str, Any]:
    """Rows as the pictures of estimates take them; there is no plain mean."""
    place = {item: m for m, item in enumerate(compared.items)}
    met = np.bincount(np.concatenate([compared.left, compared.right]), minlength=len(compared.items))
    low, high = fused.interval()
    order = np.argsort(-fused.mean[:, 0], kind="stable")
    if len(order) > MOST_ROWS:
        order = order[np.linspace(0, len(order) - 1, MOST_ROWS).round().astype(int)]
    rows = [
        {
            "item": fused.items[m],
            "comparisons": int(met[place[fused.items[m]]]) if fused.items[m] in place else 0,
            "values": [
                [float(x[m, d]) for x in (fused.mean, fused.sd, low, high)] + [None]
                for d in range(len(fused.dimensions))
            ],
        }
        for m in order.tolist()
    ]
    return {"of": len(fused.items), "rows": rows}


def _people(fuser: Pairwise, agreed: PairAgreement) -> dict[str, Any]:
    """Everybody's model and contradictions, those of most comparisons first."""
    columns = fuser.comparison_columns()
    seen = agreed.annotator_columns()
    totals: dict[str, list[int]] = {}
    triads = (seen[name] for name in ("annotator", "circular_triads", "closed_triads"))
    for who, circular, closed in zip(*triads, strict=True):
        had = totals.setdefault(who, [0, 0])
        had[0], had[1] = had[0] + circular, had[1] + closed
    order = np.argsort(-np.asarray(columns["comparisons"]), kind="stable")[:MOST_ROWS]
    rows = []
    for k in order.tolist():
        row = {name: _plain(column[k]) for name, column in columns.items()}
        circular, closed = totals.get(row["annotator"], [0, 0])
        rows.append(row | {"circular": circular / closed if closed else None, "triads": closed})
    return {"of": len(columns["annotator"]), "rows": rows, "ties": "tie_threshold" in columns}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _methods(
    compared: Comparisons, overview: ComparisonOverview, fuser: Pairwise, summary: dict[str, Any], agreed: PairAgreement
) -> str:
    version = summary["provenance"]["unisono"]
    share = float((compared.answer == 1).mean())
    who = f"{counted(len(compared.annotators), 'annotator')} gave {compared.n:,} comparisons of "
    alphas = ", ".join(f"{one.alpha.value:.2f} on {one.name}" for one in agreed.dimensions)
    sides = "with order effects of annotators" if compared.sided else "without order effects, as sides are not known"
    known = "all items are connected" if len(overview.sizes) == 1 else "differences are known inside components alone"
    return (
        f"{who}{counted(len(compared.items), 'item')} on {listed(compared.dimensions)}; {share:.0%} of them were ties. "
        f"Nominal Krippendorff's alpha, sides aligned, was {alphas}. They were fused with unisono {version} by a "
        "Bradley-Terry model with ties (Rao and Kupper 1967) in which annotators have gains, thresholds and a "
        f"probability of being spammers, {sides}; truths are normal with a learned covariance and were estimated by "
        f"variational EM ({counted(len(fuser.trace_.objective), 'iteration')}). "
        f"Estimates have 90% intervals; {known}."
    )
