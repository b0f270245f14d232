"""What a public repository says of itself in several places is the same in all of them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from unisono.version import __version__

ROOT = Path(__file__).parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text("pyproject.toml"))["project"]
RECIPE = yaml.safe_load(text("recipe/meta.yaml").replace("{{ PYTHON }}", "python"))


def version_of(name: str) -> str:
    if name == ".zenodo.json":
        return json.loads(text(name))["version"]
    if name == "recipe/meta.yaml":
        return RECIPE["package"]["version"]
    return str(yaml.safe_load(text(name))["version"])


@pytest.mark.parametrize("name", ["CITATION.cff", ".zenodo.json", "recipe/meta.yaml"])
def test_there_is_one_version(name: str) -> None:
    assert version_of(name) == __version__


def test_the_recipe_builds_from_the_source_distribution_of_this_version() -> None:
    assert RECIPE["source"]["path"].endswith(f"unisono-{__version__}.tar.gz")


def test_the_recipe_needs_what_the_package_needs() -> None:
    def plain(requirement: str) -> str:
        return requirement.replace(" ", "")

    wanted = {plain(name) for name in PROJECT["dependencies"]} | {"python" + PROJECT["requires-python"]}
    assert {plain(name) for name in RECIPE["requirements"]["run"]} == wanted


def test_the_workflow_runs_what_has_to_pass_on_every_python_that_is_promised() -> None:
    jobs = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]
    (job,) = jobs.values()
    assert any(step.get("run") == ".ci/run" for step in job["steps"])
    promised = {c.split(" :: ")[-1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)}
    assert set(job["strategy"]["matrix"]["python"]) == promised


def test_commits_are_held_to_the_linters_that_ci_calls() -> None:
    (repository,) = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    called = {hook["entry"].removeprefix(".venv/bin/").split(" --")[0] for hook in repository["hooks"]}
    recipes = re.findall(r"^\t\$\(BIN\)/((?:ruff|mypy).*)$", text("Makefile"), flags=re.MULTILINE)
    assert called == {re.sub(r" (--check )?\.$", "", line) for line in recipes}


def test_links_of_the_pages_at_the_top_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text(page)):
            assert (ROOT / target).exists(), f"{page}: {target}"
