"""Folders of made studies, for the benchmarks over studies."""

import numpy as np
import polars as pl


def folder_of(tmp_path, M=30, K=8, noise=1.0, seed=0):
    """Two studies of the same ratings, one with a reference."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(M, 2))
    rows = [
        {"item": f"i{m}", "annotator": f"a{k}", "joy": j, "calm": c}
        for m in range(M)
        for k in range(K)
        for j, c in [truth[m] + noise * rng.normal(size=2)]
    ]
    for name in ("split", "with_reference"):
        (tmp_path / name).mkdir()
        pl.DataFrame(rows).write_csv(tmp_path / name / "ratings.csv")
    table = pl.DataFrame({"item": [f"i{m}" for m in range(M)], "joy": truth[:, 0]})
    table.write_csv(tmp_path / "with_reference" / "reference.csv")
    return tmp_path, truth
