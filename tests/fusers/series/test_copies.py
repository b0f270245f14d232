"""Copies of traces: named, counted once by every model, each with a row of their own."""

import numpy as np
import pandas as pd
import pytest

import unisono as un
from trace_world import trace_world


@pytest.fixture(scope="module")
def tables():
    ratings = trace_world(seed=3, K=5, lengths=(150, 150), gaps=False).ratings
    rows = np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    frames = np.concatenate([np.arange(ratings.length[m]) for m in ratings.item_of]) / 5.0
    names = np.array(ratings.annotators)[rows]
    recordings = np.array(ratings.items)[np.repeat(ratings.item_of, ratings.length[ratings.item_of])]
    table = pd.DataFrame({"recording": recordings, "time": frames, "annotator": names})
    for d, name in enumerate(ratings.dimensions):
        table[name] = ratings.value[:, d]
    again = table[table.annotator == "rater 1"].assign(annotator="zz")
    return table, pd.concat([table, again], ignore_index=True)


@pytest.mark.filterwarnings("ignore:.*look like duplicates")
@pytest.mark.parametrize("model", ["auto", "mean"])
def test_a_copy_changes_nothing_and_has_a_row(tables, model):
    honest, copied = tables
    once, merged, kept = (
        un.fuse(honest, model=model),
        un.fuse(copied, model=model),
        un.fuse(copied, model=model, copies="keep"),
    )
    pd.testing.assert_frame_equal(once.truth, merged.truth)
    assert np.abs(kept.truth.valence - once.truth.valence).max() > 1e-3
    overall = merged.annotators_overall.set_index("annotator")
    assert overall.copy_set["zz"] == overall.copy_set["rater 1"] == "rater 1"
    assert overall["copy"]["zz"] > 0.9 > overall["copy"]["rater 0"]
    each = merged.annotators.set_index(["annotator", "dimension"])
    assert each.gain["zz", "valence"] == each.gain["rater 1", "valence"]


def test_it_is_said_how_alike_they_are(tables):
    with pytest.warns(un.DataWarning, match=r"correlates 1\.000 over the 300 frames that both rated") as told:
        un.fuse(tables[1])
    assert "'rater 1' and 'zz' look like duplicates of one annotator" in str(told[0].message)
