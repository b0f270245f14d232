"""Settings of estimators: read from the signature of `__init__`, checked, compared and shown.

`get_params`, `set_params` and `repr` are as scikit-learn's, so that `sklearn.base.clone` works without scikit-learn
being needed here; each setting is stored under its own name. Settings that are numbers are declared in `numbers`: what
is no number, not a finite one or out of its range is a SettingsError before anything is read.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from unisono.errors import SettingsError
from unisono.tables.labels import Introduction, did_you_mean


class Number(NamedTuple):
    """Values that a setting takes: finite ones from `least` on, below `below`, and some others."""

    give: str  # the way out: goes on "lag=-1: give"
    least: float = 0.0
    below: float = np.inf
    with_least: bool = True  # is least itself a value?
    whole: bool = False
    others: tuple[object, ...] = ()  # values beside them: words, or -1 for one per core

    def fits(self, value: object) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, str | Integral if self.whole else str | Real):
            return False
        if isinstance(value, str) or value in self.others:
            return value in self.others
        number = float(value)
        above = number >= self.least if self.with_least else number > self.least
        return above and number < self.below  # NaN is neither, infinity not below


TOLERANCE = Number("give a relative change from 0 on, or leave it out")
ITERATIONS = Number("give a whole number from 1 on, or leave it out", least=1, whole=True)
SHARED = Number("give a share of the error from 0 up to, but not including, 1", below=1)
SEED = Number("give a whole number from 0 on", whole=True)
JOBS = Number("give the number of processes, or -1 for one per core", least=1, whole=True, others=(-1,))
_SHARE = "give a share between 0 and 1"
ASKED: Mapping[str, Number] = {  # numbers that questions take beside a model
    "seed": SEED,
    "folds": Number("give a whole number from 2 on", least=2, whole=True),
    "draws": Number("give a whole number from 0 on", whole=True),
    "level": Number(_SHARE, below=1, with_least=False),
    "epsilon": Number("give a difference from 0 to 1", below=np.nextafter(1, 2)),
    "most": Number("give a whole number from 1 on", least=1, whole=True),
    "pairs": Number("give a whole number from 1 on", least=1, whole=True),
}


def require_asked(**given: object) -> None:
    """The same for numbers of a question, before anything is read; None is what was left out."""
    require_numbers({**dict.fromkeys(ASKED), **given}, dict.fromkeys(ASKED), ASKED)


def require_numbers(
    settings: Mapping[str, object], defaults: Mapping[str, object], numbers: Mapping[str, Number]
) -> None:
    """Raises a SettingsError for the first setting that is none of the values it takes."""
    for name, number in numbers.items():
        value = settings[name]
        left_out = value is None and defaults[name] is None
        if not left_out and not number.fits(value):
            shown = value.item() if isinstance(value, np.generic) else value
            raise SettingsError(f"{name}={shown!r}: {number.give}.")


class Parameterised:
    """What every estimator can say about its settings."""

    namespace: ClassVar[str] = ""  # where its name is to be found, if not at the top
    numbers: ClassVar[Mapping[str, Number]] = {}  # settings that are numbers, and which of them

    @classmethod
    def default_params(cls) -> dict[str, Any]:
        """The settings by name, as they are if nobody changes them."""
        return dict(_keyword_defaults(cls))  # type: ignore[arg-type]  # classes are hashable

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Keyword arguments that make an equal, unfitted estimator; `deep` is there for scikit-learn's sake."""
        return {name: getattr(self, name) for name in self.default_params()}

    def set_params(self, **params: Any) -> Self:
        """Changes settings and returns itself; what was fitted stays until the next `fit`."""
        for name, value in params.items():
            self.require_param(name)
            setattr(self, name, value)
        return self

    def alike(self, **changes: Any) -> Self:
        """An unfitted estimator with the same settings, but for these."""
        return type(self)(**(self.get_params() | changes))

    def check_settings(self) -> None:
        """Raises a SettingsError for settings that make no sense, whatever the ratings are. Default: `numbers`."""
        require_numbers(self.get_params(), self.default_params(), self.numbers)

    @classmethod
    def require_param(cls, name: str) -> None:
        """An error that says which settings there are, unless this is one."""
        known = cls.default_params()
        if name not in known:
            hint = did_you_mean(name, known)
            settings = f"Its settings are {', '.join(known)}." if known else "It has none."
            raise SettingsError(f"{cls._name()} has no setting '{name}'.{hint} {settings}")

    def changed_params(self) -> dict[str, Any]:
        """The settings that differ from their defaults."""
        default = self.default_params()
        return {name: value for name, value in self.get_params().items() if not _same(value, default[name])}

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value!r}" for name, value in self.changed_params().items())
        return f"{self._name()}({changed})"

    @classmethod
    def _name(cls) -> str:
        return cls.namespace + cls.__name__

    def _repr_html_(self) -> str:
        fitted = "fitted" if hasattr(self, "trace_") else "not fitted yet"
        rows = [(name, repr(value)) for name, value in self.changed_params().items()]
        about = "settings that are not the defaults" if rows else "all settings are the defaults"
        return Introduction.of(f"{self._name()}, {fitted}", ("setting", "value"), rows, about).html()


@functools.cache
def _keyword_defaults(cls: type) -> dict[str, Any]:
    # Every fit asks for these several times, and a signature takes as long as a step of a small fit.
    taken = inspect.signature(cls).parameters.values()
    return {p.name: p.default for p in taken if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _same(value: Any, default: Any) -> bool:
    # NaN-safe, and safe for settings that are arrays or mappings.
    return value is default or bool(repr(value) == repr(default))
