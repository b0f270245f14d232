"""The main job on real data: fuses the bundled ratings and traces and says what came out. Run by `make demo`."""

from pathlib import Path

import unisono as un
from unisono.evaluate.scoring import score_tables

OUT = Path("demo-out")


def fuse_summaries() -> None:
    """Ratings of items: three scores of every summary."""
    result = un.fuse(un.load_dataset("squality"))
    result.save(OUT / "squality")
    print("SQuALITY: how good are 300 summaries? (ratings: Wang et al. 2022, CC BY 4.0)\n")
    print(result.summary())
    print("\nBest summaries overall, with 90 % intervals:")
    for row in result.truth.sort("overall", descending=True).head(3).iter_rows(named=True):
        print(f"  {row['item']:<22} {row['overall']:5.1f}   [{row['overall_low']:.1f}, {row['overall_high']:.1f}]")
    _say_files(OUT / "squality")


def fuse_traces() -> None:
    """Traces over time of a signal that is known: how green the screen is, followed with a slider."""
    ratings = un.load_dataset("green_intensity")
    reference = un.load_dataset_table("green_intensity", "reference")
    result = un.fuse(ratings)
    result.save(OUT / "green_intensity")
    print("\n\nGreen intensity: a known signal, traced by ten people each in two tasks (Booth et al. 2018, MIT)\n")
    print(result.summary())
    print("\nAgainst the true signal, Pearson / CCC, beside the plain mean:")
    for task in ratings.items:
        words = []
        for name, fusion in (("fused", result), ("mean", un.fuse(ratings, model="mean"))):
            truth = un.read_item_table(fusion.truth, columns=["green"]).select_items([task])
            (score,) = score_tables(truth, reference.select_items([task]), align=un.align_to).dimensions
            words.append(f"{name} {score.pearson:.3f} / {score.ccc:.3f}")
        print(f"  {task}   {'   '.join(words)}")
    _say_files(OUT / "green_intensity")


def _say_files(folder: Path) -> None:
    print(f"\nFiles: {', '.join(str(path) for path in sorted(folder.iterdir()))}")


fuse_summaries()
fuse_traces()
