"""From a folder of shards to a fusion in one call, on any engine.

    with open_engine("processes", workers=4) as executor:
        result = fuse_shards(open_shards("ratings/"), executor)
        result.save("out")

What is held here does not grow with the number of items: parameters, annotators, a sample of the items for the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unisono import errors, version
from unisono.evaluate.agreement_measure import estimate_of
from unisono.evaluate.alerts import NO_SIGNAL, copy_alerts, gold_alerts, how_counted, signal_alerts
from unisono.fusers import Annotators, Fit, Fused, Joint, crowd, fusion_results, item_posteriors, saved_fit
from unisono.fusers.fuser import as_item_table, require_meaning
from unisono.maths.structure_words import COPY_WORDS, Counting, require_word
from unisono.report.report_data import Sample, Subject, coverage_of_counts
from unisono.report.report_page import report_files
from unisono.report.summary import Counts, summary_of, summary_text
from unisono.scale import shard_duplicates, shard_folder, sharded_default
from unisono.scale.executors import Executor, Shard, Task
from unisono.scale.shard_parts import Look, Part, Source, make_part
from unisono.scale.shard_preparation import (
    counted_of,
    fuser_of,
    scale_of,
    shard_alerts,
    with_item_tables,
    without_wild_answers,
)
from unisono.scale.shard_truth import Labels, fused_part, gathered_sample, make_labelled, some_rows, truth_frame
from unisono.scale.sharded_default import Counted, Everybody, Fitted, Found, OnPhase
from unisono.tables import Ratings, answer_scale, rating_checks
from unisono.tables.exporting.result_folder import rounded_figures, write_results
from unisono.tables.reading import cell_meanings, missing_codes

SHOWN_ITEMS = 3_000  # in the report, about; of more, some are shown


def fuse_shards(
    folder: shard_folder.ShardFolder,
    executor: Executor,
    *,
    model: str = "auto",
    scale: answer_scale.ScaleWords = None,
    missing: cell_meanings.Missing = None,
    features: Any = None,
    gold: Any = None,
    copies: Counting = "merge",
    start: Any = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    on_step: Callable[[int, float], None] | None = None,
    on_phase: OnPhase | None = None,
    **settings: Any,
) -> ShardedFusion:
    """Fuses the ratings of a folder of shards with the default for items, the same as a table in memory gets.

    model: 'auto' or 'joint'; settings: keyword arguments of that fuser. scale, missing (numbers), features, gold,
    copies, start: as for `fuse`.
    checkpoint: a folder where the fit is kept every few iterations; resume: whether to continue from there.
    on_step(iteration, objective) and on_phase(what) hear of progress.
    """
    fuser = fuser_of(model, settings)
    earlier = sharded_default.prior_fit(start, fuser)
    require_word("copies", copies, COPY_WORDS)
    said = answer_scale.scale_by_dimension(answer_scale.said_scale(scale), folder.dimensions)
    tell = on_phase if on_phase is not None else _ignore
    tell("a first look")
    K = len(folder.annotators)
    sources = [
        Source(path, folder.dimensions, K, first, missing=cell_meanings.missing_numbers(missing))
        for path, first in zip(folder.paths(), folder.first_items(), strict=True)
    ]
    described, known_truths = as_item_table(features), as_item_table(gold)
    sources, known_truths = with_item_tables(executor, sources, folder, described, known_truths)
    parts = executor.load([Task(make_part, (source,)) for source in sources])
    look, tallies = sharded_default.look_at_all(executor, parts)
    if not look.compared:
        raise errors.DataError(
            f"{folder.source}: No item has ratings by two annotators, so they cannot be compared. "
            "Look whether the item and annotator columns are the right ones."
        )
    free = {d: (one.value, one.times) for d, one in enumerate(tallies) if d not in said and not one.level}
    missing_codes.refuse_tallied_codes(folder.source, folder.dimensions, free)
    known = scale_of(look, tallies, said, folder)
    tell("copies")
    found = crowd.named_copies(shard_duplicates.find_copies(executor, parts, look), folder.annotators)
    alerts = shard_alerts(executor, parts, folder, look, tallies)
    counted, merged = counted_of(executor, parts, sources, look, tallies, folder, known, found, copies)
    counted, wild = without_wild_answers(executor, counted, said, folder)
    alerts, known = [*wild, *alerts], counted.scale
    counted = counted._replace(features=() if described is None else described.columns, gold=known_truths)
    folder, look, found, counted = sharded_default.with_earlier(Everybody(folder, look, found, counted), earlier)
    fitted = sharded_default.fit_default(
        executor,
        counted,
        fuser,
        earlier,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        resume=resume,
        on_step=on_step,
        on_phase=tell,
    )
    executor.forget(parts)
    if known_truths is not None and not fuser.gold_anyway:
        require_meaning(known_truths.source, folder.dimensions, fuser._gold_slopes())
    words = how_counted(None if copies == "keep" else merged)
    alerts = [*signal_alerts(folder.dimensions, fitted.signal), *copy_alerts(found, words), *alerts]
    alerts = [*gold_alerts(fuser.notes()), *alerts]
    return ShardedFusion(model, folder, executor, look, known, found, merged, counted, fitted, alerts)


@dataclass(frozen=True, eq=False, repr=False)
class ShardedFusion:
    """A finished fusion of shards; truths are computed part by part when they are written."""

    model: str
    folder: shard_folder.ShardFolder
    executor: Executor
    look: Look
    scale: answer_scale.Scale
    found_copies: crowd.Copies
    merged: bool  # whether copies count as one voice
    counted: Counted
    fitted: Fitted
    alerts: list[rating_checks.Alert]

    def __repr__(self) -> str:
        return (
            f"{self.look.judgements:,} judgements of {self.look.items:,} items in {len(self.folder.files)} shards of "
            f"'{self.folder.source}', fused with the model '{self.model}'. See .summary() and .save(directory)."
        )

    @property
    def fuser(self) -> Joint:
        return self.fitted.found.fuser

    @cached_property
    def described(self) -> Annotators:
        """What is known of the annotators, as plain arrays."""
        voices = self._described(self.fitted.found)
        if self.fuser.turned_ is not None:
            assert self.fitted.found.turned is not None
            voices = self.fuser.turned_.annotators(voices, self._described(self.fitted.found.turned))
        each = crowd.everybody_described(
            voices, self.found_copies, self.folder.annotators, self.look.given, merged=self.merged
        )
        return replace(each, answered=self.look.answered)

    def _described(self, found: Found) -> Annotators:
        data, fuser = found.rows.data, found.fuser
        return item_posteriors.described(
            fuser.annotators_,
            fuser.dimensions_,
            data.by_annotator(data.judgements).astype(np.int64),
            data=data,
            params=fuser.params_,
            scaling=fuser.scaling_,
            center=fuser.params_.mean_truth(data.scores),
            noise=found.noise,
            agreement=found.agreement,
            diagnosis=self.fitted.diagnosis,
            left_out=found.left_out,
        )

    @cached_property
    def fit(self) -> Fit:
        """The fitted model with its provenance, as it is saved; items are not in it."""
        data = self.fitted.found.rows.data
        given = data.by_annotator(data.judgements)
        unclear = [alert.labels[0] for alert in self.alerts if alert.kind == NO_SIGNAL]
        about = {"unisono": version.__version__, "seed": 0, "source": self.folder.source}
        about |= {"data_sha256": self.look.digest.hex(), "unclear": unclear, "shards": len(self.folder.files)}
        return self.fuser.as_fit(self.model, (), {"judgements_here": given}, about)

    @cached_property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json holds."""
        look, D = self.look, len(self.folder.dimensions)
        counts = Counts(
            look.items,
            len(self.folder.annotators),
            self.folder.dimensions,
            look.judgements,
            int(look.numbers.sum()),
            look.judgements * D,
            self._reading(),
        )
        return summary_of(self.fit, counts, self.described, self.alerts, self.fuser.notes())

    def summary(self) -> str:
        """The result in words."""
        return errors.spoken(summary_text(self.summary_data))

    @cached_property
    def sample(self) -> tuple[Ratings, Fused]:
        """The ratings of some items, all where there are few, and their truths."""
        one_in = -(-self.look.items // SHOWN_ITEMS)

        def some(sources: Iterable[Source], annotators: tuple[str, ...]) -> tuple[Part, Ratings]:
            shards = self._labelled(sources)
            found = gathered_sample(self.executor.map(some_rows, shards, one_in), self._labels(annotators))
            self.executor.forget(shards)
            return found

        given = (source._replace(voice=None, distance=None) for source in self.counted.sources)
        _, shown = some(given, self.folder.annotators)
        part, voices = some(self.counted.sources, self.counted.annotators)
        fused = fused_part(part, voices, self.fit, self.fitted.found.units)
        return replace(shown, source=self.folder.source), fused

    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables of annotators, by name."""
        return {
            "annotators": rounded_figures(fusion_results.dimension_columns(self.described)),
            "annotators_overall": rounded_figures(fusion_results.overall_columns(self.described)),
        }

    def save(
        self,
        directory: str | Path,
        *,
        report: bool = True,
        as_csv: bool = False,
        command: str | None = None,
        on_phase: OnPhase | None = None,
    ) -> Path:
        """Writes truth/ (or truth.csv), annotators.csv, annotators_overall.csv, summary.json, fit/ and the report.

        truth/ has one Parquet file per shard; with `as_csv` truth.csv has all of them. All is written or nothing.
        """
        target, tell = Path(directory), on_phase if on_phase is not None else _ignore

        def truth(folder: Path) -> None:
            tell("truths")
            self._write_truth(folder, as_csv)

        texts = self._report(command, as_csv, tell) if report else {}
        write_results(target, self.tables(), self.summary_data, texts, [truth, saved_fit.in_folder(self.fit)])
        return target

    def _write_truth(self, folder: Path, as_csv: bool) -> None:
        decimals = self.sample[1].decimals() if as_csv else None
        shards = self._labelled(self.counted.sources)
        labels = self._labels(self.counted.annotators)
        frames = self.executor.map(truth_frame, shards, self.fit, self.fitted.found.units, labels, decimals)
        if as_csv:
            with (folder / "truth.csv").open("wb") as file:
                for n, frame in enumerate(frames):
                    frame.write_csv(file, include_header=n == 0)
        else:
            (folder / "truth").mkdir()
            for name, frame in zip(self.folder.files, frames, strict=True):
                frame.write_parquet(folder / "truth" / name)
        self.executor.forget(shards)

    def _report(self, command: str | None, as_csv: bool, tell: OnPhase) -> dict[str, str]:
        ratings, fused = self.sample
        if len(ratings.items) == self.look.items:
            sample = None
        else:
            per_item = [[n, int(items)] for n, items in enumerate(self.look.per_item.tolist()) if items]
            coverage = coverage_of_counts(per_item, self.look.rated)
            words = f"one in {-(-self.look.items // SHOWN_ITEMS)}, without pattern"
            sample = Sample(self.look.items, words, coverage, "truth.csv" if as_csv else "truth/")
        estimate = estimate_of(self.fuser, fused)
        whole = Subject(self.model, self.fuser, ratings, estimate, self.described, self.summary_data, sample=sample)
        return report_files(whole, command=command, on_phase=tell)

    def _labelled(self, sources: Any) -> list[Shard]:
        return self.executor.load([Task(make_labelled, (source,)) for source in sources])

    def _labels(self, annotators: tuple[str, ...]) -> Labels:
        return Labels(annotators, self.folder.dimensions, self.scale)

    def _reading(self) -> dict[str, Any] | None:
        roles = self.folder.roles
        if not roles:
            return None
        return {
            "source": self.folder.source,
            **roles,
            "time": None,
            "scale": self.scale.to_dict(self.folder.dimensions),
            "left_out": {},
            "notes": [],
            "numeric_left_out": [],
        }


def _ignore(_what: str) -> None:
    """Nobody watches."""
