"""Settings of estimators, read from the signature of `__init__`: `get_params`, `set_params`, `repr`, as scikit-learn's.

An estimator takes keyword-only settings and stores each under its own name; nothing about them is written twice, and
`sklearn.base.clone` works without scikit-learn being needed here.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

from unisono.data.introduction import Introduction
from unisono.data.labels import nearest
from unisono.errors import SettingsError


class Parameterised:
    """What every estimator can say about its settings."""

    namespace: ClassVar[str] = ""  # where its name is to be found, if not at the top

    @classmethod
    def default_params(cls) -> dict[str, Any]:
        """The settings by name, as they are if nobody changes them."""
        taken = inspect.signature(cls).parameters.values()
        return {p.name: p.default for p in taken if p.kind is inspect.Parameter.KEYWORD_ONLY}

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

    @classmethod
    def require_param(cls, name: str) -> None:
        """An error that says which settings there are, unless this is one."""
        known = cls.default_params()
        if name not in known:
            close = nearest(name, known)
            hint = f" Did you mean '{close}'?" if close else ""
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


def _same(value: Any, default: Any) -> bool:
    # NaN-safe, and safe for settings that are arrays or mappings.
    return value is default or bool(repr(value) == repr(default))
