"""Documentation that is generated, or can be run, is not allowed to be out of date."""

import csv
import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from click import Context

import unisono as un
from command_line import unisono_here
from unisono.cli.main import cli
from unisono.cli.setting_table import PAGE
from unisono.maths.raters.response_styles import KINDS

ROOT = Path(__file__).parent.parent
MOST_WORDS = 52_000  # of all pages in docs; tables that are files of their own do not count
PAGES = sorted(ROOT.glob("*.md")) + [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts
]


def test_cli_page_has_every_command_and_every_setting():
    spec = importlib.util.spec_from_file_location("cli_page", ROOT / "tools" / "cli_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.text()
    assert page.startswith("# The command line\n")
    headings = re.findall(r"^## `(unisono[^`]*)`$", page, flags=re.MULTILINE)
    assert {"unisono", *(f"unisono {name}" for name in cli.list_commands(Context(cli)))} <= set(headings)
    assert "Usage: unisono score [OPTIONS] TRUTH REFERENCE" in page
    missing = [one.name for _, _, group in PAGE for one in group if f"\n| `{one.name}` | " not in page]
    assert not missing


def code_blocks(path: Path) -> list[tuple[str, str, str]]:
    """Language, file name and text of the fenced blocks that can be run, and of the files they need."""
    found = r"^```(python|sh|csv) ?([\w.]*)\n(.*?)^```"
    return re.findall(found, path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def can_run(path: Path) -> bool:
    return any(language != "csv" for language, _, _ in code_blocks(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", list(filter(can_run, PAGES)), ids=lambda p: p.name)
def test_code_blocks_run(path, tmp_path, monkeypatch):
    """All blocks of a page in their order, in one folder and one namespace, as a reader would."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, file, block in code_blocks(path):
        if language == "python":
            exec(compile(block, path.name, "exec"), names)
        elif language == "csv" and file:
            (tmp_path / file).write_text(block, encoding="utf-8")
        elif language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                assert words[0] == "unisono", line
                done = unisono_here(*words[1:], cwd=tmp_path)
                assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (path.parent / link).exists(), link


def headings(path: Path) -> list[str]:
    """The headings of a page, without those of code blocks."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)


def anchor(heading: str) -> str:
    """The name under which a heading can be linked to."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_links_to_headings_lead_to_one(path):
    for link, fragment in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", path.read_text(encoding="utf-8")):
        target = path.parent / link if link else path
        assert fragment in map(anchor, headings(target)), f"{link}#{fragment}"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_files_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"\b(?:src|tests|tools|benchmarks|examples|docs)/[\w./-]*\w", text):
        assert (ROOT / name).exists(), name


def glossary() -> dict[str, str]:
    """The entries of the glossary by their names; reports take their explanations from it in the same way."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    names = [entry.split("\n", 1)[0] for entry in entries]
    assert len(set(names)) == len(names), "an entry is there twice"
    return {name: entry.split("\n", 1)[1].strip() for name, entry in zip(names, entries, strict=True)}


def first_sentence(entry: str) -> str:
    """Up to the first full stop before the end or before a blank and a capital letter, a bracket or a digit."""
    return re.match(r".+?\.(?=\s+[A-Z\[(0-9]|\s*$)", entry.split("\nWhere:")[0].replace("\n", " "))[0]


def test_glossary_is_in_alphabetical_order():
    names = list(glossary())
    assert names == sorted(names, key=str.casefold)
    assert len({anchor(name) for name in names}) == len(names)


@pytest.mark.parametrize(("name", "entry"), glossary().items(), ids=glossary())
def test_glossary_entries_begin_with_a_sentence_that_stands_alone(name, entry):
    sentence = first_sentence(entry)
    assert 20 < len(sentence) < 200
    assert not re.search(r"[`*\]]", sentence), "a tooltip is plain text"
    assert re.match(r"[A-Z(]", sentence)
    assert re.search(r"^Where: .+\.$", entry, flags=re.MULTILINE | re.DOTALL), "where does one meet it?"


def test_columns_of_annotators_csv_are_in_the_glossary():
    described = "\n".join(glossary().values())
    names = ("bias", "gain", "noise", "reliability", "agreement", "delay", *KINDS)
    missing = [name for name in (*names, "spammer") if f"`{name}`" not in described]
    assert not missing


def test_every_page_answers_a_question():
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    missing = {path.name for path in (ROOT / "docs").glob("*.md") if f"({path.name}" not in page}
    assert missing == {"index.md", "questions.md"}


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"auto(?:function|class|exception):: (\w+)$", page, flags=re.MULTILINE))
    shown |= set(re.findall(r"`unisono\.(\w+)`", page))
    missing = (
        set(un.__all__) - shown - {"__version__", "items", "plot", "series"}
    )  # modules, with sections of their own
    assert not missing


def test_the_documentation_can_be_read_in_a_day():
    words = {path: len(path.read_text(encoding="utf-8").split()) for path in PAGES if ROOT / "docs" in path.parents}
    assert sum(words.values()) <= MOST_WORDS, sorted(words.items(), key=lambda item: -item[1])[:5]


def test_every_measured_table_is_shown_and_says_who_measured_it():
    tables = {path.name for path in (ROOT / "docs" / "tables").glob("*.csv")}
    with (ROOT / "docs" / "tables" / "sources.csv").open(encoding="utf-8", newline="") as file:
        sources = {row["table"]: row for row in csv.DictReader(file)}
    assert set(sources) == tables - {"sources.csv"}
    assert all(row["measured by"] and re.fullmatch("[0-9a-f]{7,}", row["commit"]) for row in sources.values())
    shown = set(re.findall(r"tables/([\w-]+\.csv)", "\n".join(path.read_text(encoding="utf-8") for path in PAGES)))
    assert shown == tables


def test_every_room_of_the_house_is_on_the_map():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "unisono"
    rooms = sorted(str(path.parent.relative_to(source)) for path in source.glob("*/**/__init__.py"))
    assert rooms
    missing = [room for room in rooms if not re.search(rf"^ +{room}/ ", page, flags=re.MULTILINE)]
    assert not missing


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "src" / "unisono").rglob("__init__.py")),
    ids=lambda p: str(p.parent.relative_to(ROOT / "src")),
)
def test_modules_that_a_package_lists_exist(path):
    opening = path.read_text(encoding="utf-8").split('"""')[1]
    for names in re.findall(r"^([a-z_]+(?:, [a-z_]+)*) {2,}\S", opening, flags=re.MULTILINE):
        for name in names.split(", "):
            assert (path.parent / name).is_dir() or (path.parent / f"{name}.py").exists(), name
