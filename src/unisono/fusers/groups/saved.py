"""What the model of groups learned, as arrays that can be written down, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.fusers.groups.covariates import NO_COVARIATES, CovariateUnits
from unisono.fusers.groups.units import GroupUnits
from unisono.maths.groups.labels import Learned
from unisono.maths.groups.params import GroupParams, Rows

_PARAMS = ("mu", "theta", "Sigma", "A", "t", "S", "r", "s")


class GroupFit(NamedTuple):
    """All learned numbers; after the annotators, `params` has one newcomer per group."""

    names: tuple[str, ...]  # G kinds, the reference first
    judges: tuple[bool, ...]  # whether each is a group of judges rather than people
    group: np.ndarray  # (K + G,) group of each annotator and newcomer
    reference: bool
    shared: np.ndarray  # (G,) share of the error assumed, or expected, to be common
    params: GroupParams
    theta_var: np.ndarray  # (R,)
    units: GroupUnits
    learned: Learned | None
    covariates: CovariateUnits = NO_COVARIATES
    effect_var: np.ndarray | None = None  # (G, D, P) variance of what a covariate does to a whole group


def fit_arrays(fit: GroupFit) -> dict[str, np.ndarray]:
    """All learned numbers by name."""
    arrays: dict[str, Any] = {name: getattr(fit.params, name) for name in _PARAMS}
    arrays |= {"rows": fit.params.rows.mean, "rows_cov": fit.params.rows.cov, "theta_var": fit.theta_var}
    arrays |= {
        "kind_names": np.array(fit.names),
        "judges": np.array(fit.judges),
        "group": fit.group,
        "reference": np.array(fit.reference),
    }
    arrays |= {"shared": fit.shared, "group_loc": fit.units.loc, "group_scale": fit.units.scale}
    arrays |= {
        f"covariate_{name}": np.array(value, dtype=str) if name == "names" else value
        for name, value in fit.covariates._asdict().items()
    }
    if fit.effect_var is not None:
        arrays["effect_var"] = fit.effect_var
    if fit.learned is not None:
        arrays |= {f"labels_{name}": np.asarray(value) for name, value in fit.learned._asdict().items()}
    return arrays


def restored_fit(arrays: dict[str, np.ndarray]) -> GroupFit:
    """What `fit_arrays` wrote down."""
    params = GroupParams(**{name: arrays[name] for name in _PARAMS}, rows=Rows(arrays["rows"], arrays["rows_cov"]))
    learned = None
    if "labels_inverse" in arrays:
        # Fits that were written before labels stood alone have no mean and covariance of theirs.
        known = {"labels_mu": params.mu, "labels_Sigma": params.Sigma} | arrays
        given = {name: known[f"labels_{name}"] for name in Learned._fields}
        numbers = {name: given[name].item() for name in ("spent", "freedom", "labelled")}
        learned = Learned(**(given | numbers))
    return GroupFit(
        names=tuple(str(name) for name in arrays["kind_names"]),
        judges=tuple(bool(one) for one in arrays["judges"]),
        group=arrays["group"],
        reference=bool(arrays["reference"]),
        shared=arrays["shared"],
        params=params,
        theta_var=arrays["theta_var"],
        units=GroupUnits(arrays["group_loc"], arrays["group_scale"]),
        learned=learned,
        covariates=CovariateUnits(
            tuple(str(name) for name in arrays["covariate_names"]),
            arrays["covariate_center"],
            arrays["covariate_scale"],
        ),
        effect_var=arrays.get("effect_var"),
    )
