"""Draws docs/images/tutorial-readers.png: what the tutorial shows of four readers, one of whom clicked at random."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl

import unisono as un

mpl.use("Agg")
DOCS = Path(__file__).parent.parent / "docs"


def main() -> None:
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    careless = next(block for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL) if "careless" in block)
    names: dict[str, object] = {}
    ratings = Path(un.__file__).parent / "tables" / "datasets" / "squality" / "ratings.csv"
    exec(careless.replace('"ratings.csv"', repr(str(ratings))), names)
    figure = un.plot.annotators(names["result"]).figure
    figure.savefig(DOCS / "images" / "tutorial-readers.png", dpi=200)


if __name__ == "__main__":
    main()
