"""What holds for every test."""

from hypothesis import settings

# No test fails because a machine is busy: hypothesis would count milliseconds.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
