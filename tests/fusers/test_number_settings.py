"""Settings that are numbers: what none of them takes, and what is said of it."""

import numpy as np
import pytest

from unisono.errors import SettingsError
from unisono.fusers import make_fuser, series
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fuser_settings import Number, require_numbers
from unisono.fusers.grouped_annotators import Groups
from unisono.fusers.joint_items import Joint

MODELS = (("auto", "independent", "aligned-mean", "paper-joint"), ("auto", "groups", "pairwise"))


def settings():
    for names, series_too in zip(MODELS, (True, False), strict=True):
        for name in names:
            fuser = make_fuser(name, series=series_too)
            for setting in fuser.numbers:
                yield type(fuser), setting


@pytest.mark.parametrize(("kind", "setting"), list(settings()))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -2.5, True, "much", [1.0], np.float64("nan")])
def test_no_number_takes_what_makes_no_sense(kind, setting, value):
    if (setting, value) == ("panel", np.inf):
        kind(panel=value).check_settings()  # the scale of the truth itself
        return
    with pytest.raises(SettingsError, match=rf"^{setting}=.*: give "):
        kind(**{setting: value}).check_settings()


def test_every_setting_with_a_number_for_its_default_is_looked_at():
    for kind in (series.Joint, series.PaperJoint, series.AlignedMean, Joint, Groups, Pairwise):
        for name, default in kind.default_params().items():
            if isinstance(default, int | float) and not isinstance(default, bool):
                assert name in kind.numbers
        assert {"memory", "lag", "window", "phi", "shared", "tol", "max_iter"} & set(kind.default_params()) <= set(
            kind.numbers
        )
        kind().check_settings()


def test_ends_of_a_range():
    share, above, count = Number("x", below=1), Number("x", with_least=False), Number("x", least=1, whole=True)
    assert share.fits(0)
    assert share.fits(np.float32(0.5))
    assert not share.fits(1.0)
    assert above.fits(1e-300)
    assert not above.fits(0.0)
    assert count.fits(np.int64(1))
    assert not count.fits(0)
    assert not count.fits(2.0)
    assert Number("x", others=("choose", -1)).fits("choose")
    assert Number("x", others=("choose", -1)).fits(-1)
    assert not Number("x", others=("choose", -1)).fits("chose")


def test_none_is_left_out_where_it_is_the_default_and_nothing_elsewhere():
    number = {"pace": Number("give a pace")}
    require_numbers({"pace": None}, {"pace": None}, number)
    with pytest.raises(SettingsError, match=r"^pace=None: give a pace\.$"):
        require_numbers({"pace": None}, {"pace": 1.0}, number)
    with pytest.raises(SettingsError, match=r"^pace=nan: "):  # not np.float64(nan)
        require_numbers({"pace": np.float64("nan")}, {"pace": 1.0}, number)
