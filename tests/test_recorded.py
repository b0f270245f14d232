"""Results on record stay what they are: whoever moves code finds out here whether a number moved with it."""

import json

import numpy as np
import pytest

from recorded_cases import CASES, RECORD, digest, tables

KEPT = json.loads(RECORD.read_text(encoding="utf-8"))


def test_every_case_is_on_record():
    assert list(KEPT) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_on_record(name):
    found = tables(name)
    assert found.keys() == KEPT[name].keys()
    for table, columns in found.items():
        assert len(columns) == len(KEPT[name][table])
        for (column, values), kept in zip(columns.items(), KEPT[name][table], strict=True):
            assert digest(values) == pytest.approx(kept, rel=0, abs=1e-10 * max(1.0, np.nansum(np.abs(values)))), column


def test_a_digest_notices_every_entry():
    column = np.random.default_rng(0).standard_normal(200)
    for i in range(200):
        moved = column.copy()
        moved[i] += 1e-6
        assert abs(digest(moved) - digest(column)) > 1e-10
    assert digest(np.where(column > 2, np.nan, column)) != digest(column)
