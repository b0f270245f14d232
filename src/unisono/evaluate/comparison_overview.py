"""What is in a table of comparisons: how it was read, what hangs together, and whether sides were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from unisono.tables.comparisons import Comparisons
from unisono.tables.labels import counted, listed
from unisono.tables.rating_checks import Alert

OFTEN = 5  # comparisons of a pair whose sides say something: all on one side has a chance of one in sixteen
ONE_SIDED = 0.5  # share of such pairs that were always shown the same way, beyond which sides were not drawn


@dataclass(frozen=True, eq=False)
class ComparisonOverview:
    """What `check` says of comparisons; `lines` are for people."""

    comparisons: Comparisons
    component: np.ndarray  # (M,) connected component of each item, by size
    one_sided: float  # share of pairs compared often that were always shown the same way; NaN without any

    @cached_property
    def sizes(self) -> list[int]:
        """Items of each component, the largest first."""
        return [int(n) for n in np.bincount(self.component)]

    @cached_property
    def alerts(self) -> tuple[Alert, ...]:
        """What deserves a look."""
        table, found = self.comparisons, []
        if len(self.sizes) > 1:
            first = [table.items[int(np.argmax(self.component == c))] for c in range(len(self.sizes))]
            found.append(
                Alert(
                    "components",
                    "warning",
                    f"The items are in {len(self.sizes)} components that no comparison connects (of "
                    f"{_sizes(self.sizes)} items; with {listed(first)}). Only differences inside one are known.",
                    tuple(first),
                )
            )
        if table.sided and self.one_sided > ONE_SIDED:
            found.append(
                Alert(
                    "sides",
                    "warning",
                    f"{self.one_sided:.0%} of the pairs that were compared often were always shown the same way round: "
                    "sides were not drawn by chance, and an order effect cannot be told from the items.",
                    (),
                )
            )
        if not table.sided:
            found.append(Alert("sides", "note", "Sides are not known, so no order effect is estimated.", ()))
        return tuple(found)

    def lines(self) -> list[str]:
        """In sentences, with a table of answers."""
        shares = ["  {}: {}, left {}, tie {}, right {}".format(*row) for row in self.comparisons.counts()]
        alerts = [f"  {alert.severity}: {alert.message}" for alert in self.alerts]
        return [*self.comparisons.lines(), *shares, *alerts]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `unisono check --json` prints them."""
        table = self.comparisons
        return {
            "source": table.source,
            "layout": table.layout,
            "notes": list(table.notes),
            "sided": table.sided,
            "items": len(table.items),
            "annotators": len(table.annotators),
            "dimensions": [
                dict(zip(("name", "comparisons", "left", "tie", "right"), row, strict=True)) for row in table.counts()
            ],
            "components": self.sizes,
            "alerts": [{"kind": one.kind, "severity": one.severity, "message": one.message} for one in self.alerts],
        }


def comparison_overview(table: Comparisons) -> ComparisonOverview:
    """What is in the comparisons."""
    M = len(table.items)
    edges = csr_matrix((np.ones(table.n, dtype=bool), (table.left, table.right)), shape=(M, M))
    found = connected_components(edges, directed=False)[1]
    by_size = np.argsort(-np.bincount(found, minlength=1), kind="stable")
    place = np.empty(len(by_size), dtype=np.int64)
    place[by_size] = np.arange(len(by_size))
    key = np.minimum(table.left, table.right) * M + np.maximum(table.left, table.right)
    _, pair = np.unique(key, return_inverse=True)
    n, way = np.bincount(pair), np.bincount(pair, table.left < table.right)
    often = n >= OFTEN
    same = ((way == 0) | (way == n))[often]
    return ComparisonOverview(table, place[found], float(same.mean()) if often.any() else float("nan"))


def _sizes(sizes: list[int]) -> str:
    shown = ", ".join(f"{size:,}" for size in sizes[:5])
    return shown if len(sizes) <= 5 else f"{shown} and fewer"


def connectedness(found: ComparisonOverview) -> str:
    """Whether all items hang together, in words."""
    if len(found.sizes) == 1:
        return f"All {counted(len(found.comparisons.items), 'item')} are connected by comparisons."
    return found.alerts[0].message
