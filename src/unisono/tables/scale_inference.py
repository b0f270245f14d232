"""The answer scale inferred from the answers: its minimum and maximum, and the step between neighbouring answers.

The minimum and maximum show by answers that pile up there, by the limits that rating scales usually have, and by the
other dimensions of the same questionnaire. Where answers show nothing of the kind nothing is inferred, because a truth
outside the observed range would be cut off. Answers of a single annotator beyond those of all others (typing errors,
an origin of one's own) do not widen the scale. docs/format.md states the rules in words.

Whether answers are discrete is decided by the mean cosine of their phases on m equal steps,

    R_m = sum_i cos(2 pi m u_i) / (n inside + share n),   u = (y - low) / (high - low)                       eq. B25

over answers that are at neither limit: 1 where all lie on the grid, about 0 where none does. Of all numbers of steps
the one with the shortest description is taken: an answer on the grid costs log m, one off the grid as much as a number.
What only one annotator's answers show counts for nothing: R_m is the least of those without one annotator each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unisono.tables.answer_scale import Ends, Scale

PILE_SHARE = 0.02  # share of the answers on their lowest or highest number that makes it an end ...
PILE_RATINGS = 3  # ... and the least number of them: two may be chance
NEAR = 0.05  # of the width: answers that come so close to both ends of a usual scale have been asked on it
SAME = 0.02  # of the width: a pile so close to a usual end is there because of rounding
CLOSE = 0.001  # of the width: answers so close to the last one are on the same end
ON_STEP = 0.02  # of the distance between quarter numbers: so close to one an answer is a grade
MOST_GRADES = 2 / 3  # share of the answers in whole, half and quarter numbers that makes these grades
ENOUGH = 50  # answers without a single one on an end, from which coming near both is no chance
STEPS = 4  # whole, half and quarter numbers are grades; finer ones come from a slider
WIDEST = 20.0  # a scale of grades; more grades are a slider in whole numbers
COVERED = 0.5  # share of another dimension's scale that answers have to cover to be on it too

# Scales of grades, the narrowest first: of those that hold all answers the first is taken.
GRADES: tuple[Ends, ...] = (
    *((0.0, 1.0), (-1.0, 1.0), (1.0, 5.0), (-2.0, 2.0), (0.0, 5.0), (1.0, 7.0), (-3.0, 3.0), (1.0, 9.0)),
    *((-4.0, 4.0), (1.0, 10.0), (0.0, 10.0), (-5.0, 5.0), (-10.0, 10.0)),
)
THREE_GRADES: Ends = (0.0, 2.0)  # of answers from 0 on: of others, 1 and 2 may be on a scale from 1
# Scales of sliders. Not -3 to 3 and the like: standardised numbers without ends come close to these by themselves.
SLIDERS: tuple[Ends, ...] = (
    *((0.0, 1.0), (-1.0, 1.0), (1.0, 5.0), (1.0, 7.0), (1.0, 9.0), (0.0, 10.0), (0.0, 100.0), (1.0, 100.0)),
    *((-50.0, 50.0), (-100.0, 100.0), (0.0, 1000.0), (-1000.0, 1000.0)),
)
_LOWS, _HIGHS = ({ends[i] for ends in (*GRADES, *SLIDERS)} for i in (0, 1))


class _Seen(NamedTuple):
    """What the answers to one dimension show."""

    low: float
    high: float
    graded: bool
    ends: Ends | None = None
    sure: bool = False  # both ends are in use

    def within(self, ends: Ends) -> bool:
        slack = CLOSE * _width(ends)
        return ends[0] - slack <= self.low and self.high <= ends[1] + slack

    def could_be_on(self, ends: Ends) -> bool:
        """Whether another dimension's scale may be that of these answers too."""
        width = _width(ends)
        alike = width <= WIDEST if self.graded else self.high - self.low >= COVERED * width
        return alike and self.within(ends)


class Reach(NamedTuple):
    """The lowest and the highest answer of every annotator to one dimension, (K,) each; infinite of who gave none."""

    low: np.ndarray
    high: np.ndarray

    def of_others(self) -> Ends:
        """Where at least two annotators come to, on both sides; nowhere where there are not three."""
        if np.isfinite(self.low).sum() < 3:
            return np.inf, -np.inf
        return float(np.partition(self.low, 1)[1]), float(-np.partition(-self.high, 1)[1])


class SeenAnswers(NamedTuple):
    """All that the ends of a scale show by."""

    low: float  # infinite without answers
    high: float
    on_low: float  # answers close to it
    on_high: float
    number: float
    stepped: bool  # whole, half and quarter numbers, the lowest and the highest among them


def seen_answers(value: np.ndarray, times: np.ndarray) -> SeenAnswers:
    """Of different answers (n,) in order, given so many `times` (n,)."""
    if not len(value):
        return SeenAnswers(np.inf, -np.inf, 0, 0, 0, True)
    close = CLOSE * (value[-1] - value[0])
    on = (
        slice(0, np.searchsorted(value, value[0] + close, "right")),
        slice(np.searchsorted(value, value[-1] - close), None),
    )
    low, high = (_middle(value[part], times[part]) for part in on)
    number = times.sum()
    reach = min(ON_STEP, NEAR * STEPS * (high - low))
    steps = _is_step(value, reach) @ times >= MOST_GRADES * number
    stepped = bool(steps and _is_step(np.array([low, high]), reach).all())
    return SeenAnswers(low, high, times[on[0]].sum(), times[on[1]].sum(), number, stepped)


def infer_scale(value: np.ndarray, annotator_of: np.ndarray) -> Scale:
    """The scale of every column of answers (S, D), missing ones aside, by annotators (S,)."""
    dimensions = range(value.shape[1])
    counted = [np.unique(column[~np.isnan(column)], return_counts=True) for column in value.T]
    return scale_of_answers(counted, [reach_of(value[:, d], annotator_of) for d in dimensions])


def reach_of(answers: np.ndarray, annotator_of: np.ndarray) -> Reach:
    """Of answers (S,), missing ones aside."""
    K = int(annotator_of.max(initial=-1)) + 1
    low, high = np.full(K, np.inf), np.full(K, -np.inf)
    np.fmin.at(low, annotator_of, answers)
    np.fmax.at(high, annotator_of, answers)
    return Reach(low, high)


def for_origins(scale: Scale, value: np.ndarray, annotator_of: np.ndarray) -> Scale:
    """A scale of answers (S, D) by annotators (S,), made wide enough for the truth of those with another origin."""
    reach = [reach_of(column, annotator_of) for column in value.T]
    return scale.for_origins(*(np.stack(part, axis=1) for part in zip(*reach, strict=True)))


def scale_of_answers(counted: Sequence[tuple[np.ndarray, np.ndarray]], reach: Sequence[Reach]) -> Scale:
    """The scale of every dimension, from its different answers in order, how often each was given, and by whom."""
    seen = [_look_at(*own, by.of_others()) for own, by in zip(counted, reach, strict=True)]
    return Scale(tuple(_like_the_others(own, seen) for own in seen), (False,) * len(seen))


def _look_at(value: np.ndarray, times: np.ndarray, others: Ends) -> _Seen:
    """What all answers show; where these are no grades, what those show that at least two annotators come to."""
    seen = _shown(seen_answers(value, times))
    if seen.graded and seen.ends is not None:
        return seen
    slack = CLOSE * max(others[1] - others[0], 0.0)
    inside = (value >= others[0] - slack) & (value <= others[1] + slack)
    rest = _shown(seen_answers(value[inside], times[inside]))
    return rest if rest.sure or (rest.graded and rest.ends is not None) else seen


def _shown(y: SeenAnswers) -> _Seen:
    if not y.number:
        return _Seen(np.nan, np.nan, False)
    graded = max(-y.low, y.high) <= GRADES[-1][1] + ON_STEP and y.stepped
    if not graded:
        return _slider(_Seen(y.low, y.high, graded), y)
    low, high = (round(end * STEPS) / STEPS for end in (y.low, y.high))
    return _grades(_Seen(low, high, graded), y)


def _middle(value: np.ndarray, times: np.ndarray) -> float:
    """The median of answers, one of them."""
    return float(value[np.searchsorted(np.cumsum(times), times.sum() / 2)])


def _is_step(numbers: np.ndarray, reach: float) -> np.ndarray:
    """Whether numbers (n,) come so close to whole, half and quarter ones."""
    return np.asarray(np.abs(numbers * STEPS - np.round(numbers * STEPS)) <= reach)


def _like_the_others(own: _Seen, seen: Sequence[_Seen]) -> Ends | None:
    """The dimension's own ends, or those of the other dimensions where these know better."""
    known = Counter(other.ends for other in seen if other.sure and other.ends is not None)
    fitting = [ends for ends in known if own.could_be_on(ends)]
    if not own.sure and fitting:
        return min(fitting, key=_width)
    if not own.sure:
        # As wide as others on which nobody came to both ends either: the questionnaire had one scale.
        guesses = [other.ends for other in seen if not other.sure and other.ends and own.could_be_on(other.ends)]
        return max(
            (ends for ends in guesses if own.ends and _share_an_end(own.ends, ends)), key=_width, default=own.ends
        )
    # Nobody went as far as one end on this dimension: most others have it.
    common = [ends for ends in fitting if 2 * known[ends] > len(seen) and _share_an_end((own.low, own.high), ends)]
    return common[0] if common else own.ends


def _grades(seen: _Seen, y: SeenAnswers) -> _Seen:
    """Answers in steps: their own ends where both are in use and counting begins there, else a usual scale."""
    low, high = seen.low, seen.high
    piled = y.on_low >= _pile(y), y.on_high >= _pile(y)
    begins = low in (0.0, 1.0) or low == -high
    used = (low, high) in GRADES and min(y.on_low, y.on_high) >= PILE_RATINGS
    if used or (all(piled) and begins and low < high and high == round(high)):
        return seen._replace(ends=(low, high), sure=True)
    holding = [ends for ends in GRADES if seen.within(ends)]
    if low == 0.0 and GRADES[0][1] < high <= THREE_GRADES[1]:
        return seen._replace(ends=THREE_GRADES)
    same_start = [ends for ends in holding if ends[0] == low] if piled[0] else []
    return seen._replace(ends=next(iter((*same_start, *holding)), None))


def _slider(seen: _Seen, y: SeenAnswers) -> _Seen:
    """Fine answers: ends that are in use, and the other end of a usual scale where answers come near it."""
    close = CLOSE * (seen.high - seen.low)
    if not close:
        return seen
    low, high = _usual(seen.low, _LOWS, close), _usual(seen.high, _HIGHS, close)
    seen = seen._replace(low=low, high=high)
    sure = (
        y.on_low >= (PILE_RATINGS if low in _LOWS else _pile(y)),
        y.on_high >= (PILE_RATINGS if high in _HIGHS else _pile(y)),
    )
    if all(sure):
        rounded = next((ends for ends in SLIDERS if _approached(ends, low, high, SAME)), (low, high))
        return seen._replace(ends=rounded, sure=True)
    usual = next((ends for ends in SLIDERS if _approached(ends, low, high, NEAR)), None)
    if usual is not None and (y.number >= ENOUGH or any(sure)):
        return seen._replace(ends=usual, sure=True)
    if any(sure):
        return seen._replace(ends=(low, np.inf) if sure[0] else (-np.inf, high))
    return seen


def _width(ends: Ends) -> float:
    return ends[1] - ends[0]


def _share_an_end(one: Ends, other: Ends) -> bool:
    return one[0] == other[0] or one[1] == other[1]


def _usual(end: float, ends: set[float], close: float) -> float:
    """A usual end where one is so close, else the end itself."""
    return next((usual for usual in ends if abs(end - usual) <= close), end)


def _pile(y: SeenAnswers) -> float:
    return max(PILE_SHARE * y.number, PILE_RATINGS)


def _approached(ends: Ends, low: float, high: float, reach: float) -> bool:
    """Whether answers stay within a scale and come near both of its ends."""
    near = reach * (ends[1] - ends[0])
    return ends[0] <= low <= ends[0] + near and ends[1] - near <= high <= ends[1]


# Scales of 2 to 10 steps gain by it, sliders of 100 lose; in between nothing is on record (docs/decisions/0005).
COARSE_STEPS = 10.0  # steps from end to end up to which answers are kinds ...
FINE_STEPS = 20  # ... and from which on they are numbers; in between they are both, along the logarithm
ON_LATTICE = (0.5, 0.75)  # convention: mean cosine of answers that are no kinds yet, and that are nothing else
NUMBER_KINDS = 1000.0  # convention: what a number that is no kind might as well have been: three digits
LEAST_INSIDE = 0.02  # convention: share of all answers, imagined between the ends: where none is there, none is beyond
MOST_VALUES = 1 << 14  # numerical: different answers that are looked at; of more, one in so many, evenly in order


class Lattice(NamedTuple):
    """How far neighbouring answers lie apart, and how much that makes them kinds instead of numbers."""

    step: float  # NaN where nothing lies between the ends
    weight: float  # from 0, numbers, to 1, kinds


NUMBERS = Lattice(np.nan, 0.0)


def answer_lattice(value: np.ndarray, times: np.ndarray, low: float, high: float) -> Lattice:
    """Of different answers (n,) in order, given so many `times` (n,), on a scale from `low` to `high`.

    An end that there is not is where the last answer is.                                                   eq. B25
    """
    if not len(value):
        return NUMBERS
    low, high = reached(low, high, float(value[0]), float(value[-1]))
    if not high > low:
        return NUMBERS
    every = -(-len(value) // MOST_VALUES)
    place, weight = (value[::every] - low) / (high - low), times[::every].astype(float)
    agreement = _agreement(place, weight)
    steps = np.arange(1, FINE_STEPS + 1)
    best = int(np.argmax(agreement - np.log(steps) / np.log(NUMBER_KINDS)))
    return Lattice((high - low) / float(steps[best]), _weight(float(agreement[best]), int(steps[best])))


def reached(low: float, high: float, least: float, largest: float) -> Ends:
    """The ends of a scale; where there is none, the `least` or `largest` answer."""
    return low if np.isfinite(low) else least, high if np.isfinite(high) else largest


def _weight(agreement: float, steps: int) -> float:
    """How much answers on so many steps are kinds."""
    little, all_ = ON_LATTICE
    kinds = np.clip((agreement - little) / (all_ - little), 0.0, 1.0)
    coarse = np.clip(np.log(FINE_STEPS / steps) / np.log(FINE_STEPS / COARSE_STEPS), 0.0, 1.0)
    return float(kinds * coarse)


class Phases(NamedTuple):
    """Sums over the answers of every annotator to one dimension, (K,) each: they add up."""

    cosine: np.ndarray  # of the phases of those inside
    inside: np.ndarray  # how many lie between the ends
    on: np.ndarray  # how many lie on the scale

    def __add__(self, other: Phases) -> Phases:  # type: ignore[override]
        return Phases(*(a + b for a, b in zip(self, other, strict=True)))


def phases_of(answers: np.ndarray, annotator_of: np.ndarray, K: int, ends: Ends, step: float) -> Phases:
    """Of answers (S,), missing ones aside, on such a lattice between the `ends`."""
    seen = ~np.isnan(answers)
    place, of, edge = (answers[seen] - ends[0]) / (ends[1] - ends[0]), annotator_of[seen], 0.5 / FINE_STEPS
    inside, on = (place > edge) & (place < 1 - edge), (place >= -edge) & (place <= 1 + edge)
    cosine = np.where(inside, np.cos(2 * np.pi * (answers[seen] - ends[0]) / step), 0.0)
    return Phases(*(np.bincount(of, part, minlength=K) for part in (cosine, inside, on)))


def shown_by_several(found: Lattice, ends: Ends, by: Phases) -> Lattice:
    """The lattice, as far as it shows without any one annotator, where there are three."""
    if np.count_nonzero(by.on) < 3:
        return found
    inside, on = by.inside.sum() - by.inside, by.on.sum() - by.on
    least = np.min((by.cosine.sum() - by.cosine) / (inside + LEAST_INSIDE * on))
    weight = _weight(float(least), round(_width(ends) / found.step))
    return found._replace(weight=min(found.weight, weight))


def _agreement(place: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(FINE_STEPS,) R_m of answers at `place`, 0 at the lower end and 1 at the upper; of one step there is nothing."""
    edge = 0.5 / FINE_STEPS
    inside = (place > edge) & (place < 1 - edge)
    total = times[inside].sum() + LEAST_INSIDE * times[(place >= -edge) & (place <= 1 + edge)].sum()
    found = np.zeros(FINE_STEPS)
    if not inside.any():
        return found
    cosine, own = np.cos(2 * np.pi * place[inside]), times[inside]
    before, current = np.ones_like(cosine), cosine
    for m in range(2, FINE_STEPS + 1):  # Chebyshev's polynomials: cos m x from cos x
        before, current = current, 2 * cosine * current - before
        found[m - 1] = own @ current
    return np.asarray(found / total)
