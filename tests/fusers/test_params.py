"""Estimators as the ecosystem expects them: settings from the signature, clone, repr, errors that advise."""

import inspect

import pytest

import unisono as un
from unisono import fusers
from unisono.fusers.model_registry import SERIES_MODELS

FUSERS = sorted(
    {kind for model in SERIES_MODELS.values() for kind in (model.fuser, model.series) if kind is not None},
    key=lambda kind: kind.kind,
)


@pytest.mark.parametrize("kind", FUSERS, ids=lambda kind: kind.kind)
def test_settings_are_those_of_the_signature(kind):
    fuser = kind()
    named = list(inspect.signature(kind).parameters)
    assert list(fuser.get_params()) == named
    assert fuser.get_params() == {name: getattr(fuser, name) for name in named}
    assert repr(fuser) == f"{kind.namespace}{kind.__name__}()"
    # What is shown can be found under that name.
    assert eval(repr(fuser), vars(fusers)).get_params() == fuser.get_params()


@pytest.mark.parametrize("kind", FUSERS, ids=lambda kind: kind.kind)
def test_scikit_learn_clones_every_fuser(kind):
    clone = pytest.importorskip("sklearn.base").clone
    fuser = kind()
    changed = {name: 7 for name in ("seed", "jobs", "max_iter", "panel") if name in fuser.get_params()}
    copy = clone(fuser.set_params(**changed))
    assert type(copy) is kind
    assert copy is not fuser
    assert copy.get_params() == fuser.get_params()
    assert not hasattr(copy, "trace_")


def test_repr_shows_what_was_changed_and_can_be_read_back():
    fuser = un.items.Joint(transform="gain", panel=3.0, priors={"latent_items": 2})
    assert repr(fuser) == "Joint(transform='gain', panel=3.0, priors={'latent_items': 2})"
    assert eval(repr(fuser), {"Joint": un.items.Joint}).get_params() == fuser.get_params()


def test_an_unknown_setting_is_answered_with_the_nearest():
    with pytest.raises(un.SettingsError, match=r"no setting .pannel.\. Did you mean .panel."):
        un.items.Joint().set_params(pannel=3)
    with pytest.raises(un.SettingsError, match="It has none"):
        un.items.Mean().set_params(panel=3)


def test_alike_is_unfitted_and_leaves_the_other_alone():
    fuser = un.items.Joint(panel=3.0).fit(un.load_dataset("squality"))
    other = fuser.alike(panel=5.0)
    assert (fuser.panel, other.panel) == (3.0, 5.0)
    assert not hasattr(other, "trace_")


def test_a_notebook_sees_the_settings_that_differ_escaped():
    html = un.items.Joint(transform="gain", priors={"<b>": 1})._repr_html_()
    assert "Joint, not fitted yet" in html
    assert "gain" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "panel" not in html
