"""Builds the documentation site from docs/ and the pages beside it: python tools/build_docs.py [TARGET]

Sources stay as they read best in a repository. What a site needs beyond that (a table of contents, the README as a
page, no links to source files) is added to a copy. A warning is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from cli_page import text as cli_page
from notebook_pages import write_pages

ROOT = Path(__file__).parent.parent
NEIGHBOURS = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
CHAPTERS = {  # title -> pages in the order in which one would read them; pages that are named nowhere come last
    "Start": [
        "readme",
        "tutorial",
        "notebooks/items",
        "notebooks/traces",
        "questions",
        "which-model",
        "format",
        "importing",
    ],
    "Use": [
        "app",
        "items",
        "series",
        "judges",
        "categories",
        "annotators",
        "agreement",
        "compare",
        "report",
        "features",
        "python",
        "r",
        "collect",
    ],
    "Look up": ["glossary", "cli", "reference"],
    "How good is it": ["accuracy", "accuracy-series", "benchmarks", "scale", "reproduction"],
    "Inside": [
        "maths",
        "maths-series",
        "maths-groups",
        "maths-categories",
        "maths-published",
        "contributing",
        "changelog",
        "decisions/index",
    ],
}
PAGE_NAME = re.compile(r"`?(?:docs/)?[\w-]+\.(?:md|ipynb)`?")
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def build(target: Path) -> int:
    """Copies, completes, runs Sphinx; its exit code."""
    source = target / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("_build"))
    for name, page in NEIGHBOURS.items():
        shutil.copy(ROOT / name, source / page)
    _write_decisions(source)
    (source / "cli.md").write_text(cli_page(), encoding="utf-8")
    write_pages(ROOT / "examples", source / "notebooks")
    for page in source.rglob("*.md"):
        origin = (
            ROOT
            if page.name in NEIGHBOURS.values() and page.parent == source
            else ROOT / "docs" / page.parent.relative_to(source)
        )
        page.write_text(_on_site(page.read_text(encoding="utf-8"), origin, page.parent, source), encoding="utf-8")
    index = source / "index.md"
    index.write_text(index.read_text(encoding="utf-8") + _contents(source), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", source, target / "html"]
    return subprocess.run(command, check=False).returncode


def _on_site(text: str, origin: Path, here: Path, source: Path) -> str:
    """Links to pages lead to the site's pages, links to anything else become their words."""

    def lead(match: re.Match[str]) -> str:
        words, link, anchor = match[1], match[2], match[3] or ""
        if "://" in link or not link:
            return match[0]
        place = (origin / link).resolve()
        if place.parent == ROOT and place.name in NEIGHBOURS:
            page = source / NEIGHBOURS[place.name]
        elif place.suffix == ".ipynb":
            page = source / "notebooks" / f"{place.stem}.md"
        elif place == ROOT / "docs" / "decisions":
            page = source / "decisions" / "index.md"
        elif place.is_relative_to(ROOT / "docs") and place.suffix in (".md", ".png", ".csv"):
            page = source / place.relative_to(ROOT / "docs")
        else:
            return words
        shown = _title(page) if PAGE_NAME.fullmatch(words) else words
        return f"[{shown}]({_way(here, page)}{anchor})"

    text = re.sub(r"(!\[[^\]]*\]\()docs/", r"\1", text) if origin == ROOT else text
    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    # No highlighter knows these.
    return "".join(
        re.sub("^```(csv|jsonl)[^\n]*", "```text", part) if part.startswith("```") else LINK.sub(lead, part)
        for part in parts
    )


def _title(page: Path) -> str:
    """What a page calls itself; in a repository one names files, on a site pages."""
    found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return found[1] if found else page.stem


def _way(here: Path, page: Path) -> str:
    """The path from a folder to a page, upwards if need be."""
    return Path(os.path.relpath(page, here)).as_posix()


def _write_decisions(source: Path) -> None:
    pages = sorted(page.stem for page in (source / "decisions").glob("*.md"))
    text = "# Why it was made this way\n\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n"
    (source / "decisions" / "index.md").write_text(text, encoding="utf-8")


def _contents(source: Path) -> str:
    there = {str(page.relative_to(source).with_suffix("")) for page in source.rglob("*.md")} - {"index"}
    there = {page for page in there if not page.startswith("decisions/") or page == "decisions/index"}
    named = {page for pages in CHAPTERS.values() for page in pages}
    chapters = {**CHAPTERS, "More": sorted(there - named)}
    blocks = [
        f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n"
        + "\n".join(page for page in pages if page in there)
        + "\n```\n"
        for title, pages in chapters.items()
        if there & set(pages)
    ]
    return "".join(blocks)


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "_build"))
