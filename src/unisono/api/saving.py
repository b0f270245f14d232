"""What every result can do with files: the folder with all of it, and the report alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from unisono.fusers import Fit
from unisono.io.saved import in_folder
from unisono.io.writing import write_results


class Saving:
    """A result that has tables, a summary and a report, and perhaps a fit that can be used again."""

    @property
    def summary_data(self) -> dict[str, Any]:
        """What summary.json says."""
        raise NotImplementedError

    def files(self) -> dict[str, dict[str, Any]]:
        """The tables of the folder that `save` writes, by name."""
        raise NotImplementedError

    @property
    def fit(self) -> Fit | None:
        """What fit/ keeps, if there is anything."""
        return None

    def _report_files(
        self, command: str | None = None, on_phase: Callable[[str], None] | None = None
    ) -> dict[str, str]:
        raise NotImplementedError

    def report(self, path: str | Path = "report.html") -> Path:
        """Writes the report, one HTML file that needs nothing else."""
        from unisono.publish import write_page

        return write_page(Path(path), self._report_files())

    def save(
        self,
        directory: str | Path,
        *,
        report: bool = True,
        command: str | None = None,
        on_phase: Callable[[str], None] | None = None,
    ) -> Path:
        """Writes truth.csv, annotators.csv, annotators_overall.csv, summary.json and the report; all or none.

        Numbers have a folder fit/ besides, categories tables of their own. `command` is how the report says it can be
        made again; `on_phase` hears what the report is at.
        """
        target = Path(directory)
        texts = self._report_files(command, on_phase) if report else {}
        fit = [] if self.fit is None else [in_folder(self.fit)]
        write_results(target, self.files(), self.summary_data, texts, fit)
        return target
