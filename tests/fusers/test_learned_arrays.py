"""What was learned comes back from arrays as it was, whatever it consists of."""

import json
from typing import Literal, NamedTuple

import numpy as np
import pytest

import unisono as un
from unisono.errors import DataError
from unisono.fusers.learned_arrays import inside, packed, unpacked
from unisono.tables.answer_scale import Scale


class Inner(NamedTuple):
    words: tuple[str, ...]
    way: Literal["up", "down"]
    sure: bool
    array: np.ndarray | float = 0.5


class Outer(NamedTuple):
    inner: Inner
    several: tuple[Inner, ...]
    path: list[float]
    count: int
    by_name: dict[str, np.ndarray]
    missing: Inner | None = None
    weight: np.ndarray | None = None


ONE = Inner(("a", "b"), "down", True, np.arange(6.0).reshape(2, 3))
OTHER = Inner((), "up", False)


def equal(one, other):
    if isinstance(one, tuple | list) and not isinstance(one, str):
        assert type(one) is type(other)
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            equal(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        equal(list(one.values()), list(other.values()))
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("several", [(), (ONE, OTHER), tuple(ONE for _ in range(12))])
@pytest.mark.parametrize("missing", [None, OTHER])
def test_values_come_back_as_they_were(several, missing, tmp_path):
    whole = Outer(ONE, several, [0.1, -np.inf], 3, {"x": np.zeros((0, 2)), "y.z": np.ones(2)}, missing)
    np.savez(tmp_path / "arrays.npz", allow_pickle=False, **packed(whole, "whole"))
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as arrays:
        found = unpacked(Outer, dict(arrays), "whole")
    equal(found, whole)
    assert type(found.count) is int
    assert found.inner.sure is True


def test_names_that_begin_alike_are_kept_apart():
    arrays = packed(np.ones(2), "level") | packed(ONE, "levels")
    np.testing.assert_array_equal(unpacked(np.ndarray, arrays, "level"), [1, 1])
    assert unpacked(Inner | None, arrays, "lev") is None
    assert set(inside(arrays, "levels")) == {"words", "way", "sure", "array"}


def test_scales_come_back():
    scale = Scale(((1.0, 7.0), None), (True, False))
    assert unpacked(Scale, packed(scale, "scale"), "scale") == scale


def test_fits_of_another_layout_are_refused(tmp_path):
    folder = un.fuse(un.load_dataset("squality")).save(tmp_path / "out", report=False)
    words = folder / "fit" / "fit.json"
    words.write_text(json.dumps(json.loads(words.read_text()) | {"format": 1}))
    with pytest.raises(DataError, match="another version"):
        un.load(folder)
