"""Stimuli with known truth: colours whose saturation and brightness are set, still or moving."""
