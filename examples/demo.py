"""The main job on real data: fuses the bundled SQuALITY ratings and says what came out. Run by `make demo`."""

from pathlib import Path

import unisono as un
from unisono.datasets import dataset_path

OUT = Path("demo-out")

ratings = un.read_ratings(dataset_path("squality"))
result = un.fuse(ratings)
result.save(OUT / "squality")

print("SQuALITY: how good are 300 summaries? (ratings: Wang et al. 2022, CC BY 4.0)\n")
print(result.summary())

best = result.truth.sort("overall", descending=True).head(3)
print("\nBest summaries overall, with 90 % intervals:")
for row in best.iter_rows(named=True):
    print(f"  {row['item']:<22} {row['overall']:5.1f}   [{row['overall_low']:.1f}, {row['overall_high']:.1f}]")
print(f"\nFiles: {', '.join(str(path) for path in sorted((OUT / 'squality').iterdir()))}")
