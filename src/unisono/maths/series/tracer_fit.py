"""The default for traces: annotators with gains, noise, levels, signs and delays of their own, then the truth.

Each dimension tells its annotators' gains and noise by itself, all of them tell one delay per annotator, and the truth
is smoothed jointly. The unit of the truth is that of the typical annotator.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.em_loop import EmTrace, OnStep, run_em
from unisono.maths.series.delays_and_memory import (
    DelayPosterior,
    Delays,
    Looks,
    common_delays,
    delay_posterior,
    delay_shares,
)
from unisono.maths.series.left_out_traces import course_widening, left_out, rating_errors
from unisono.maths.series.trace_data import Priors, SeriesData, connected
from unisono.maths.series.trace_em_fit import DefaultFit, OnDelay, Settings, default_structure, to_convention
from unisono.maths.series.trace_frames import Hands, independent_frames, joint_frames, placed
from unisono.maths.series.trace_leakage import leakages, nobody_leaks, said
from unisono.maths.series.trace_parts import HeldParts, Parts, two_scales
from unisono.maths.series.trace_truth import two_scale_truths
from unisono.maths.series.tracer_climb import Climb, arrived, climb, set_out, sweep
from unisono.maths.series.tracer_diagnosis import diagnose_tracers, look_at_traces
from unisono.maths.series.tracer_params import (
    Asked,
    Dimension,
    Known,
    all_hands,
    annotator_sample,
    counted_frames,
    figure_doubt,
    truth_correlation,
    truth_params,
    with_common_error,
)
from unisono.maths.series.tracer_rows import first_tracers, logarithms

INTERVAL = 0.90  # convention: of delays
DELAY_ROUNDS = 3  # numerical: of the search for delays, each with what is known of errors after the one before
SETTLED = 100.0  # numerical: times the tolerance of the objective: a change of every logarithm below it is none
SEARCH = 12  # numerical: sweeps at most
PATIENCE, LEAST_RISE = 5, 0.005  # numerical: steps, and nats per annotator that the objective has to rise by in them


def fit_two_scales(
    data: SeriesData,
    rate: float,
    settings: Settings | None = None,
    *,
    parts: Parts | None = None,
    watch: OnStep[tuple[Dimension, ...]] | None = None,
    on_delay: OnDelay | None = None,
) -> DefaultFit:
    """Fuses series with the default model. data: standardised, without features; rate: frames per second.

    parts: the same data, where somebody else does the work on frames.
    """
    s = Settings() if settings is None else settings
    structure = default_structure(rate, s)
    parts = HeldParts(data) if parts is None else parts
    found = _searched(_first(parts, data, rate), s.tol)
    group = connected(data)
    whole, delays = _delays(parts, found, group, rate, (structure.W - 1) // 2, on_delay)
    if any(own.lag.any() for own in whole):
        found = _searched(_moved_by(parts, found, whole), s.tol)
    found, trace = _climbed(found, s, watch)
    diagnosis = _diagnosed(parts, found, rate)  # every dimension by itself, as its rows were found
    found, leak, trace = _leaking(parts, found, trace)
    return _finished(Asked(parts, data, rate, s, structure, group), Known(found, delays, leak), trace, diagnosis)


def _first(parts: Parts, data: SeriesData, rate: float) -> tuple[Dimension, ...]:
    scales, none = two_scales(parts, data.K, data.D), np.zeros(data.K, dtype=np.int64)
    kappa = independent_frames(parts, scales, rate, int(data.length.max()))
    nobody = np.ones(data.K)  # placing courses takes no gains
    places = placed(parts, tuple(Hands(one.unit, one.flat, none, nobody, nobody, 1.0) for one in scales))
    return tuple(
        Dimension(one, place, first_tracers(one, place), share, none)
        for one, place, share in zip(scales, places, kappa, strict=True)
    )


def _moved_by(parts: Parts, found: tuple[Dimension, ...], delays: list[Delays]) -> tuple[Dimension, ...]:
    """The same with courses at these delays."""
    moved = tuple(f._replace(lag=own.lag) for f, own in zip(found, delays, strict=True))
    places = placed(parts, all_hands(moved))
    return tuple(f._replace(place=place) for f, place in zip(moved, places, strict=True))


def _delays(
    parts: Parts,
    found: tuple[Dimension, ...],
    group: np.ndarray,
    rate: float,
    most: int,
    on_delay: OnDelay | None,
) -> tuple[list[Delays], DelayPosterior]:
    """One delay per annotator on all dimensions, then on each of them, where it differs clearly; what is known of them.

    What a frame counts for depends on how long errors last, which is seen once traces are aligned: hence the rounds.
    """
    told, order = 0, found[0].scales.order

    def tell(done: int, total: int) -> None:
        nonlocal told
        told += 1
        if on_delay is not None:
            on_delay(told, told - done + total)

    looks, lag = Looks(parts, all_hands(found), most), np.zeros(len(group), dtype=np.int64)
    for _ in range(DELAY_ROUNDS):
        common = common_delays(looks, _new_errors(parts, found, lag, rate), group, rate, order=order, on_delay=tell)
        if np.array_equal(common.lag, lag):
            break
        lag = common.lag
    shares, each = _new_errors(parts, found, lag, rate), [common]
    if len(found) > 1:
        each = [
            common_delays(looks, {d: kappa}, group, rate, around=lag, order=order, on_delay=tell)
            for d, kappa in shares.items()
        ]
    return each, delay_posterior(looks, shares, [own.lag for own in each], group, rate)


def _new_errors(parts: Parts, found: tuple[Dimension, ...], lag: np.ndarray, rate: float) -> dict[int, float]:
    """What a frame of every dimension counts for: the share of errors that are new in each at these delays."""
    moved = tuple(f._replace(lag=lag) for f in found)
    usual = counted_frames(parts, moved)
    return dict(enumerate(delay_shares(parts, all_hands(moved), usual, rate).tolist()))


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


def _leaking(
    parts: Parts, found: tuple[Dimension, ...], trace: EmTrace
) -> tuple[tuple[Dimension, ...], np.ndarray, EmTrace]:
    """Noise and biases once leakage (K, D, D) is known, gains held; the objective goes on from the climb's end."""
    K, D = len(found[0].lag), len(found)
    if D == 1:
        return found, np.zeros((K, 1, 1)), trace
    tracers, kappa = [f.tracers for f in found], float(np.mean([f.kappa for f in found]))
    frames = [one for part in parts.map(joint_frames, all_hands(found)) for one in part]
    correlation = truth_correlation(found, frames)
    heard = said(parts, [f.scales for f in found], tracers, all_hands(found), kappa, correlation)
    leak, values = leakages(heard, nobody_leaks(tracers))
    after = trace.objective[-1] + np.diff(values).cumsum()
    joined = trace._replace(objective=np.concatenate([trace.objective, after]))
    biases, betas = leak.bias.reshape(D, K), leak.beta.reshape(D, K)
    new = [
        f._replace(tracers=f.tracers._replace(bias=bias, beta=beta, eta=float(eta), tau2=float(tau2)))
        for f, bias, beta, eta, tau2 in zip(found, biases, betas, leak.eta, leak.tau2, strict=True)
    ]
    return tuple(new), np.swapaxes(leak.share.reshape(D, K, D), 0, 1), joined


def _diagnosed(parts: Parts, found: tuple[Dimension, ...], rate: float) -> np.ndarray:
    """(K, D, 5) probabilities, see tracer_diagnosis.py."""
    seen = look_at_traces(parts, all_hands(found))
    own = [diagnose_tracers(f.scales, f.place, f.kappa, f.tracers, rate, of) for f, of in zip(found, seen, strict=True)]
    return np.stack(own, axis=1)


def _finished(asked: Asked, known: Known, trace: EmTrace, diagnosis: np.ndarray) -> DefaultFit:
    parts, data, rate, s, structure, group = asked
    found, delays, _ = known
    params, levels = truth_params(asked, known)
    used = np.any([f.scales.present for f in found], axis=0)
    for g in np.unique(group[used]):
        params, _ = to_convention(params, used & (group == g), rate, s)
    kappa = np.array([f.kappa for f in found])
    present = np.stack([f.scales.present for f in found], axis=1)
    shown = left_out(parts, params, structure, levels, present, found[0].scales.order)
    levels = levels._replace(widening=course_widening(shown.products, kappa))
    sample = annotator_sample(found, delays)
    spread = with_common_error(sample, found, rate, s)
    doubt = np.stack(figure_doubt(found, sample, int(data.length.sum())), axis=2)
    mean, cov = two_scale_truths(parts, params, structure, levels, spread)
    noise = np.where(present, np.diagonal(params.N, axis1=1, axis2=2) + levels.noise, np.nan)
    ends = delays.interval(INTERVAL) + (params.lag - delays.mean)[:, :, None]
    return DefaultFit(
        mean=mean,
        cov=cov,
        params=params,
        lag=np.where(present, params.lag / rate, np.nan),
        mean_lag=float(params.lag[used].mean() / rate),
        convention="earliest" if s.lag is None else "given",
        noise=noise,
        extra=np.zeros(data.D),
        spread=spread,
        trace=trace,
        structure=structure,
        priors=Priors(kappa=float(np.mean([f.kappa for f in found]))),
        levels=levels,
        lag_range=ends,
        doubt=np.where(present[:, :, None], doubt, np.nan),
        diagnosis=diagnosis,
        rating_errors=rating_errors(shown.deviates, kappa),
    )
