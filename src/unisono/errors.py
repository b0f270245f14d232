"""What can go wrong, by name. Imports nothing."""


class DataError(ValueError):
    """The data contradicts itself or cannot be used; the message says where, what, and the way out."""


class NoNumbersError(DataError):
    """A table has no column of numbers that could be ratings; it may hold categories."""


class SettingsError(ValueError):
    """A model, or a setting of a model, that there is not, or that makes no sense; known before anything is read."""


class EngineError(RuntimeError):
    """Those who do the work (processes, a Dask or Ray cluster) were lost, or cannot be reached."""


class NotFittedError(RuntimeError):
    """A fuser was asked for results before `fit`."""


class ConvergenceWarning(UserWarning):
    """EM stopped at its iteration limit before its stopping rule held."""


class DataWarning(UserWarning):
    """Something in the data looks suspicious but can be used as it is."""


class LeftOutWarning(DataWarning):
    """Columns of a table were not taken for ratings; the message says which, why, and how to take them in."""


class InterpretedWarning(DataWarning):
    """A table was read otherwise than as plain numbers in plain columns; the message says how."""
