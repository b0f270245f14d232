"""What the joint model learned, as arrays that can be written down, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unisono.fusers.features import restore_space
from unisono.fusers.items.calibration import restore_calibration
from unisono.fusers.items.ends import ends_arrays, restore_ends
from unisono.fusers.items.response import response_arrays, restore_response
from unisono.fusers.results import Fit
from unisono.fusers.scaling import Scaling, restored_scale, scale_arrays
from unisono.maths.items.params import ItemParams

if TYPE_CHECKING:
    from unisono.fusers.items.joint import Joint


def learned_arrays(fuser: Joint) -> dict[str, np.ndarray]:
    """All learned numbers by name."""
    params = {name: value for name, value in fuser.params_._asdict().items() if value is not None}
    return {
        **params,
        "theta_var": fuser.theta_var_,
        "judgements_behind": fuser.judgements_,
        "items_behind": np.array(fuser.items_behind_),
        **fuser.calibration_.arrays(),
        **ends_arrays(fuser.ends_),
        **response_arrays(fuser.reading_, fuser.scaling_),
        "rating_loc": fuser.scaling_.loc,
        "rating_scale": fuser.scaling_.scale,
        **scale_arrays(fuser.scale_),
        **fuser.space_.arrays(),
    }


def restore_learned(fuser: Joint, fit: Fit) -> None:
    """Gives an unfitted fuser the numbers of a saved fit; those that older versions did not save are left neutral."""
    arrays = fit.arrays
    fuser.params_ = ItemParams(**{name: arrays.get(name) for name in ItemParams._fields})  # type: ignore[arg-type]
    fuser.theta_var_ = arrays["theta_var"]
    fuser.judgements_ = arrays.get("judgements_behind", np.zeros(len(fit.annotators)))
    fuser.items_behind_ = int(arrays.get("items_behind", 0))
    fuser.ends_ = restore_ends(arrays)
    fuser.set_calibration(restore_calibration(arrays))
    fuser.reading_, curve = restore_response(arrays)
    fuser.scaling_ = Scaling(arrays["rating_loc"], arrays["rating_scale"], curve)
    fuser.scale_ = restored_scale(arrays, len(fit.dimensions))
    fuser.space_ = restore_space(fit.features, arrays)
    fuser.dimensions_, fuser.annotators_ = fit.dimensions, fit.annotators
    fuser.trace_ = fit.trace
