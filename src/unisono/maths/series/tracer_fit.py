"""The default for traces: annotators with gains, noise, levels, signs and delays of their own, then the truth.

Each dimension tells its annotators' gains and noise by itself, all of them tell one delay per annotator, and the truth
is smoothed jointly. The unit of the truth is that of the typical annotator.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.em import EmTrace, OnStep, run_em
from unisono.maths.series.align import MAX_CORRELATION
from unisono.maths.series.bands import no_spread
from unisono.maths.series.common_delays import (
    Delays,
    Part,
    common_delays,
    delay_interval,
)
from unisono.maths.series.default import DefaultFit, OnDelay, Settings, default_structure, to_convention
from unisono.maths.series.independent_frames import independent_frames
from unisono.maths.series.left_out_errors import course_widening
from unisono.maths.series.params import Priors, SeriesData, SeriesParams, Structure, lag_kernel
from unisono.maths.series.recordings import connected
from unisono.maths.series.tracer_climb import Climb, arrived, climb, set_out
from unisono.maths.series.tracer_diagnosis import diagnose_tracers
from unisono.maths.series.tracer_search import sweep
from unisono.maths.series.tracer_spread import annotator_sample, with_common_error
from unisono.maths.series.tracer_truth import Levels, two_scale_truth
from unisono.maths.series.tracers import Sums, Tracers, error_correlation, first_tracers, logarithms
from unisono.maths.series.two_scales import Placed, TwoScales, placed, two_scales

INTERVAL = 0.90  # of delays
DELAY_ROUNDS = 3  # of the search for delays, each with what is known of errors after the one before
SETTLED = 100.0  # times the tolerance of the objective: a change of every logarithm below it is none
SEARCH = 12  # sweeps at most
PATIENCE, LEAST_RISE = 5, 0.005  # steps, and nats per annotator that the objective has to rise by in them
CORRELATION_ROUNDS = 20  # of EM for the correlation of true dimensions
IMAGINARY_FRAMES = 4.0  # independent frames by which dimensions are uncorrelated


class Dimension(NamedTuple):
    """What was found on one dimension."""

    scales: TwoScales
    place: Placed
    tracers: Tracers
    kappa: float


def fit_two_scales(
    data: SeriesData,
    rate: float,
    settings: Settings | None = None,
    *,
    watch: OnStep[tuple[Dimension, ...]] | None = None,
    on_delay: OnDelay | None = None,
) -> DefaultFit:
    """Fuses series with the default model. data: standardised, without features; rate: frames per second."""
    s = Settings() if settings is None else settings
    structure = default_structure(rate, s)._replace(crosstalk=False, level=False)
    found = _searched(tuple(_first(data, d, rate) for d in range(data.D)), s.tol)
    group = connected(data)
    delays = _delays(found, group, rate, (structure.W - 1) // 2, on_delay)
    if any(own.lag.any() for own in delays):
        moved = tuple(f._replace(place=placed(f.scales, own.lag)) for f, own in zip(found, delays, strict=True))
        found = _searched(moved, s.tol)
    found, trace = _climbed(found, s, watch)
    return _finished(data, rate, s, structure, found, delays, group, trace)


def _delays(
    found: tuple[Dimension, ...], group: np.ndarray, rate: float, most: int, on_delay: OnDelay | None
) -> list[Delays]:
    """One delay per annotator on all dimensions; then on each of them, where it differs clearly.

    What a frame counts for depends on how long errors last, which is seen once traces are aligned: hence the rounds.
    """
    looks = 0

    def tell(done: int, total: int) -> None:
        nonlocal looks
        looks += 1
        if on_delay is not None:
            on_delay(looks, looks - done + total)

    lag = np.zeros(len(group), dtype=np.int64)
    for _ in range(DELAY_ROUNDS):
        parts = [_part(f, lag) for f in found]
        common = common_delays(parts, group, rate, most, on_delay=tell)
        if np.array_equal(common.lag, lag):
            break
        lag = common.lag
    if len(found) == 1:
        return [common]
    return [common_delays([_part(f, lag)], group, rate, most, around=lag, on_delay=tell) for f in found]


def _part(f: Dimension, lag: np.ndarray) -> Part:
    rho = min(error_correlation(f.scales, placed(f.scales, lag), f.tracers, 1), MAX_CORRELATION)
    return Part(f.scales, f.tracers, max(f.kappa, (1.0 - rho) / (1.0 + rho)))


def _first(data: SeriesData, d: int, rate: float) -> Dimension:
    scales = two_scales(data, d)
    place = placed(scales, np.zeros(data.K))
    return Dimension(scales, place, first_tracers(scales, place), independent_frames(scales, rate))


def _searched(found: tuple[Dimension, ...], tol: float) -> tuple[Dimension, ...]:
    """Annotators of every dimension after a search for their signs and scales."""
    return tuple(_search(f, tol) for f in found)


def _search(f: Dimension, tol: float) -> Dimension:
    for _ in range(SEARCH):
        before, f = f, f._replace(tracers=sweep(f.scales, f.place, f.kappa, f.tracers))
        if _moved(before, f) < SETTLED * tol:
            break
    return f


def _moved(before: Dimension, after: Dimension) -> float:
    return float(np.abs(logarithms(after.tracers) - logarithms(before.tracers)).max())


def _climbed(
    start: tuple[Dimension, ...], s: Settings, watch: OnStep[tuple[Dimension, ...]] | None
) -> tuple[tuple[Dimension, ...], EmTrace]:
    """Annotators of all dimensions until they stand still, or until there is nothing left to gain."""
    State = tuple[tuple[Dimension, Climb], ...]
    people = sum(int(f.scales.present.sum()) for f in start)

    def step(state: State) -> tuple[State, float]:
        climbed = [climb(f.scales, f.place, f.kappa, at) for f, at in state]
        after = tuple((f._replace(tracers=at.tracers), at) for (f, _), (at, _) in zip(state, climbed, strict=True))
        return after, sum(value for _, value in climbed)

    def settled(objective: list[float], before: State, after: State) -> bool:
        if max(_moved(b, a) for (b, _), (a, _) in zip(before, after, strict=True)) < SETTLED * s.tol:
            return True
        return len(objective) > PATIENCE and objective[-1] - objective[-1 - PATIENCE] < LEAST_RISE * people

    def see(iteration: int, state: State, value: float) -> None:
        if watch is not None:
            watch(iteration, tuple(f for f, _ in state), value)

    state, trace = run_em(
        step,
        tuple((f, set_out(f.scales, f.tracers)) for f in start),
        stop_when=settled,
        max_iter=s.max_iter,
        on_step=see,
        keep="next",
    )
    return tuple(f._replace(tracers=arrived(f.scales, at)) for f, at in state), trace


def truth_correlation(found: tuple[Dimension, ...]) -> np.ndarray:
    """(D, D) correlation of the true courses, by EM over frames alone; few of them draw it to none."""  # eq. S44
    D = len(found)
    if D == 1:
        return np.eye(1)
    sums = [Sums(f.scales, f.place, f.tracers) for f in found]
    A = np.array([f.tracers.A for f in found])
    Q, S = (np.stack([getattr(own, name) for own in sums], axis=1) for name in ("Q", "S"))
    seen = (Q > 0).any(axis=1)
    Q, S = (Q * A)[seen], (S * np.sqrt(A))[seen]  # of a truth with variance 1
    frames, R = float(np.mean([f.kappa for f in found])) * len(Q), np.eye(D)
    for _ in range(CORRELATION_ROUNDS):
        V = np.linalg.inv(np.linalg.inv(R) + Q[:, :, None] * np.eye(D))
        x = np.einsum("tde,te->td", V, S)
        moment = (frames * (x.T @ x / len(x) + V.mean(axis=0)) + IMAGINARY_FRAMES * np.eye(D)) / (
            frames + IMAGINARY_FRAMES
        )
        sd = np.sqrt(np.diagonal(moment))
        R = moment / sd[:, None] / sd
    return np.asarray(R)


def _finished(
    data: SeriesData,
    rate: float,
    s: Settings,
    structure: Structure,
    found: tuple[Dimension, ...],
    delays: list[Delays],
    group: np.ndarray,
    trace: EmTrace,
) -> DefaultFit:
    params, levels = _params(data, rate, s, structure, found, delays, group)
    used = np.any([f.scales.present for f in found], axis=0)
    for g in np.unique(group[used]):
        params, _ = to_convention(params, used & (group == g), rate, s)
    bare = two_scale_truth(data, params, structure, levels, no_spread(data.D))
    kappa = np.array([f.kappa for f in found])
    levels = levels._replace(widening=course_widening(data, params, structure, levels, bare.level, kappa))
    parts = [(f.scales, f.tracers) for f in found]
    spread = with_common_error(annotator_sample(parts, delays), parts, rate, s)
    truth = two_scale_truth(data, params, structure, levels, spread)
    present = np.stack([f.scales.present for f in found], axis=1)
    noise = np.where(present, np.diagonal(params.N, axis1=1, axis2=2) + levels.noise, np.nan)
    relative = np.stack([own.lag for own in delays], axis=1)
    ends = np.stack([delay_interval(own, INTERVAL) for own in delays], axis=1) + (params.lag - relative)[:, :, None]
    return DefaultFit(
        mean=truth.mean,
        cov=truth.cov,
        params=params,
        lag=np.where(present, params.lag / rate, np.nan),
        mean_lag=float(params.lag[used].mean() / rate),
        convention="earliest" if s.lag is None else "given",
        noise=noise,
        correlation=np.ones((data.D, 1)),
        extra=np.zeros(data.D),
        spread=spread,
        trace=trace,
        structure=structure,
        priors=Priors(kappa=float(np.mean([f.kappa for f in found]))),
        levels=levels,
        lag_range=ends,
        diagnosis=np.stack([diagnose_tracers(*f[:2], f.kappa, f.tracers, rate) for f in found], axis=1),
    )


def _params(
    data: SeriesData,
    rate: float,
    s: Settings,
    structure: Structure,
    found: tuple[Dimension, ...],
    delays: list[Delays],
    group: np.ndarray,
) -> tuple[SeriesParams, Levels]:
    K, D, W = data.K, data.D, structure.W
    phi = float(np.exp(-1.0 / (rate * s.memory))) if s.phi is None else s.phi
    lag = np.zeros((K, D))
    for g in np.unique(group):
        own = group == g
        relative = np.stack([one.lag[own] for one in delays], axis=1)
        lag[own] = relative - relative.min()
    unit = np.array([f.scales.unit for f in found])
    centre = np.array([f.scales.centre for f in found])
    gain = np.stack([f.tracers.gain for f in found], axis=1)
    noise = np.stack([f.tracers.noise for f in found], axis=1) * unit**2
    level_noise = np.stack([f.tracers.level_noise for f in found], axis=1) * unit**2
    bias = np.stack([f.tracers.bias for f in found], axis=1) * unit
    doubt = np.stack([f.tracers.bias_variance for f in found], axis=1) * unit**2
    flat = np.stack([f.scales.flat for f in found], axis=1)
    moves = np.where(flat, 0.0, gain)  # who does not move says nothing of the course
    F = np.zeros((K, W, D, D))
    for k, d in np.ndindex(K, D):
        F[k, :, d, d] = moves[k, d] * lag_kernel(float(lag[k, d]), W)
    sd = np.sqrt([f.tracers.A for f in found]) * unit
    A = truth_correlation(found) * sd[:, None] * sd
    params = SeriesParams(
        F=F,
        b=centre + bias - moves * centre,
        N=noise[:, :, None] * np.eye(D),
        rho=np.zeros((K, D)),
        lag=lag,
        mu=centre,
        theta=np.zeros((0, D)),
        sigma=(1.0 - phi**2) * A,
        phi=phi,
    )
    prior = np.diag([f.tracers.AB for f in found]) * unit**2
    lasting = np.array([lasting_errors(f, phi) for f in found])
    return params, Levels(gain, level_noise, centre + bias, doubt, prior, lasting, widening=np.ones(D))


def lasting_errors(f: Dimension, phi: float) -> float:
    """The share of the errors that outlasts the smoother: their correlation over half the frames it averages."""
    Q, A = Sums(f.scales, f.place, f.tracers).Q, f.tracers.A
    Q = Q[Q > 0]
    if not Q.size:
        return 1.0
    q, sigma = float(np.median(Q)), A * (1.0 - phi**2)
    variance = sigma / np.sqrt((1.0 + phi**2 + sigma * q) ** 2 - 4.0 * phi**2)  # of a long chain under white noise
    step = int(np.ceil(0.5 / (variance * q)))
    return error_correlation(f.scales, f.place, f.tracers, max(step, 1))
