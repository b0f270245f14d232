"""`unisono plan`: how many ratings per item are enough."""

from __future__ import annotations

from pathlib import Path

import click

from unisono.cli.options import json_option
from unisono.cli.talk import number, print_json, print_table, tell

NO_PLAN = "how many ratings would be enough there cannot be told from these."


@click.command("plan")
@click.argument("fit", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--most", type=click.IntRange(min=1), default=20, show_default=True, help="Ratings per item at most.")
@click.option("--target", type=click.FloatRange(0, 1), default=0.9, show_default=True, help="Correlation to reach.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the drawn annotators.")
@json_option
def command(fit: Path, most: int, target: float, seed: int, as_json: bool) -> None:
    """Predict the error for 1, 2, ... ratings per item by annotators like those of FIT.

    For each dimension: the correlation of estimate and truth to expect, and the sd of the truth that remains.
    """
    from unisono.api import plan
    from unisono.report.alerts import nothing_shared

    found = plan(fit, most=most, seed=seed)
    if as_json:
        print_json(found.to_dict(target))
        return
    if found.unclear:
        tell(nothing_shared(found.unclear, found.dimensions, NO_PLAN))
    if len(found.unclear) == len(found.dimensions):
        return
    each, enough = found.enough_each(target), found.enough(target)
    # One quantity at a time: side by side, seven dimensions would not fit a screen.
    for what, values in (
        ("Correlation of estimate and truth to expect", found.correlation),
        ("Standard deviation of the truth that remains, in the units of the ratings", found.sd),
    ):
        tell(f"{what}, by ratings per item{found.asked}")
        rows = [[str(n), *map(number, row)] for n, row in zip(found.ratings, values.tolist(), strict=True)]
        print_table(["ratings", *found.dimensions], rows)
    most_tried = int(found.ratings[-1])
    if not found.unclear:
        many = enough or most_tried
        are = f"rating per item{found.asked} is" if many == 1 else f"ratings per item{found.asked} are"
        tell(f"{many} {are}{'' if enough else ' not'} enough for a correlation of {target:g} in every dimension.")
    if len(each) > 1:
        needed = [f"{name} {n or f'more than {most_tried}'}" for name, n in each.items() if name not in found.unclear]
        tell(f"Needed: {', '.join(needed)}.")
