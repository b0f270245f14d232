"""The words of a report, each in one sentence: the first of its entry in docs/glossary.md, where there is more."""

from __future__ import annotations

TERMS = {
    "agreement": "The correlation of an annotator's answers with the truth fused without those answers.",
    "annotator matrix": (
        "The matrix F_k that says how annotator k turns the truths of all dimensions into expected answers."
    ),
    "band": "The 90 % intervals of a fused trace, frame by frame.",
    "bias": "How far an annotator's average answer lies above or below the truth, in rating units.",
    "compressed": (
        "An annotator who follows the truth but uses a small part of the scale, about .1 to .6 of what is usual."
    ),
    "constant": "An annotator who gives the same answer whatever the item.",
    "coverage": (
        "The share of values that lie inside the interval stated for them; it should be .90 for 90 % intervals."
    ),
    "delay": "How many seconds an annotator's trace follows behind the truth.",
    "diagnosis": "The probabilities that an annotator is a spammer, or uses a dimension in an unusual style.",
    "dimension": "One of the scales that items are rated on, for example valence or fluency.",
    "effective number": (
        "The number of independent annotators who would be worth as much as a group that shares its errors."
    ),
    "flipped": "An annotator who uses the scale the other way round, high where others answer low.",
    "gain": (
        "How much an annotator's answer changes when the truth changes by one. 1 is usual, less is a timid "
        "use of the scale, more an exaggerated one, and negative a scale turned round."
    ),
    "held-out": "Set aside while a model is fitted, then used to test it: ratings, stretches of traces, or annotators.",
    "ICC": "Intraclass correlation: the share of the variance of ratings that comes from differences between items.",
    "interval": "The range that holds the truth with 90 % probability, under the convention of the anchor.",
    "judgement": "All answers of one annotator to one item, one number per dimension.",
    "Krippendorff's alpha": (
        "Agreement beyond chance among any number of annotators with any gaps: 1 is perfect, 0 is chance, "
        "negative is worse than chance."
    ),
    "leakage": "How much an annotator's answer on one dimension changes with the truth of another dimension.",
    "leniency": (
        "How far the ratings of a group lie above those of the reference at the average item, whatever its members do "
        "by themselves."
    ),
    "log density": "How probable a model held the ratings that it had not seen, as a logarithm; higher is better.",
    "noise": (
        "The standard deviation of the part of an annotator's answers that is neither truth nor bias, in rating units."
    ),
    "objective": (
        "The number that the estimation raises from iteration to iteration: a log-likelihood, or a bound of it."
    ),
    "Pearson": "Pearson's correlation: 1 if two sets of numbers lie on a rising line, whatever its level and slope.",
    "reliability": "The share of the variance of an annotator's answers that comes from the truth; the rest is noise.",
    "RMSE": (
        "Root mean squared error: the typical size of the difference between estimate and reference, in rating units."
    ),
    "sd": "The standard deviation of the error of an estimate, as the model states it.",
    "SEM": (
        "Standard error of measurement: how far a single rating typically lies from the truth of its item, in"
        " rating units."
    ),
    "shared error": (
        "The part of the error that all annotators make alike, which no comparison between annotators can reveal."
    ),
    "spammer": "An annotator whose answers follow no truth on any dimension, random or constant.",
    "stretched": "An annotator who follows the truth and exaggerates, with about twice the usual gain.",
    "swapped": "An annotator whose answers on one dimension follow the truth of another one.",
    "temperature": "How far class probabilities are drawn away from certainty, 1 for not at all.",
    "trace": "The values that one annotator gives over the time of one recording, on one dimension or several.",
    "truth": "The value of an item on a dimension that lies behind its ratings; it is never observed, only estimated.",
    "unrelated": "An annotator whose answers on a dimension vary but follow no truth.",
    "usual": "An annotator who uses the scale about as the typical annotator does.",
}
