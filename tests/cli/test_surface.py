"""What the command line shows and what it takes: groups, counts, one table of settings, nearest names."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import click
import pytest

from command_line import unisono_here
from unisono.cli.main import COMMANDS, GROUPS, cli
from unisono.cli.option_groups import TITLES
from unisono.cli.setting_table import LONG_AND_WIDE, MODEL, PAGE, READING, STRUCTURE
from unisono.fusers.model_registry import ALL_MODELS
from unisono.tables.reading.ratings_reader import read_ratings

RATINGS = "item,annotator,v\n1,x,1\n1,y,2\n2,x,4\n2,y,3\n3,x,5\n3,y,5\n"
OF_TABLES = {one.name for one in (*READING, *LONG_AND_WIDE)}


def leaves(command=cli, name="", above=None):
    """Every command that does something, with its name and its options."""
    ctx = click.Context(command, info_name=name, parent=above)
    if isinstance(command, click.Group):
        for below in command.list_commands(ctx):
            yield from leaves(command.get_command(ctx, below), f"{name} {below}".strip(), ctx)
    else:
        yield name, [one for one in command.params if isinstance(one, click.Option)]


LEAVES = dict(leaves())


def shown(name):
    return [one for one in LEAVES[name] if not one.hidden]


@pytest.fixture
def table(tmp_path):
    (tmp_path / "r.csv").write_text(RATINGS)
    return tmp_path


def test_few_commands_and_few_options():
    assert len(LEAVES) <= 32
    assert len(shown("fuse")) <= 25
    assert sum(len(shown(name)) for name in LEAVES) <= 202


def test_the_help_of_every_command_fits_sixty_columns():
    """Blocks that are kept as they are written, too."""

    def wide(command, name, above=None):
        ctx = click.Context(command, info_name=name, parent=above, terminal_width=60, max_content_width=60)
        yield from [(name, line) for line in command.get_help(ctx).splitlines() if len(line) > 60]
        for below in command.list_commands(ctx) if isinstance(command, click.Group) else ():
            yield from wide(command.get_command(ctx, below), below, ctx)

    assert list(wide(cli, "unisono")) == []


def test_help_groups_the_commands_with_first_steps_on_top():
    text = unisono_here("--help").stdout
    titles = re.findall(r"^(\S.*):$", text, flags=re.MULTILINE)
    assert titles == ["First steps", *GROUPS, "Options"]
    listed = re.findall(r"^  ([a-z-]+)  +\S", text, flags=re.MULTILINE)
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)


def test_help_of_fuse_has_titled_groups():
    text = unisono_here("fuse", "--help").stdout
    titles = re.findall(r"^(The \w+|Options):$", text, flags=re.MULTILINE)
    assert titles == [title for title in TITLES if title in titles]
    assert {"The table", "The model", "The result"} <= set(titles)


def settings_of_models():
    for name, model in ALL_MODELS.items():
        for fuser in filter(None, (model.fuser, model.series)):
            yield from ((name, setting, default) for setting, default in fuser.default_params().items())


def test_every_setting_of_every_model_is_in_the_table_and_nothing_else():
    known = {one.name for one in MODEL} | {"seed"}  # an option of its own
    asked = {setting for _, setting, _ in settings_of_models()}
    assert known - {"humans"} == asked  # who is a person is said of the ratings, not of a model


def test_every_way_to_read_a_table_is_an_option_or_in_the_table():
    options = {one.name for one in shown("fuse")}
    words = set(inspect.signature(read_ratings).parameters) - {"source"}
    assert words == (words & options) | OF_TABLES
    assert not OF_TABLES & options


@pytest.mark.parametrize("model", ["auto", "paper-joint"])
@pytest.mark.parametrize("series", [False, True])
def test_defaults_that_are_plain_values_are_told(model, series):
    kind = ALL_MODELS[model].series if series else ALL_MODELS[model].fuser
    told = {one.name: re.split(r"[ ;]+", one.default) for one in MODEL}
    for name, default in kind.default_params().items():
        if name not in ("tol", "max_iter", "seed") and default is not None:
            assert (str(default).lower() if isinstance(default, bool) else f"{default:g}" if isinstance(default, float)
                    else str(default)) in told[name], name  # fmt: skip


EXAMPLES = {"number": "0.5", "whole number": "2", "text": "x", "true|false": "true"}


@pytest.mark.parametrize("one", MODEL, ids=lambda one: one.name)
def test_every_setting_of_models_is_reached_by_its_name_and_as_an_option_that_is_not_shown(one, table, monkeypatch):
    heard = []
    monkeypatch.setattr("unisono.api.fuse", lambda *_, **settings: heard.append(settings) or sys.exit(0))
    value = (
        "noise_share=1" if one.name == "priors" else EXAMPLES.get(one.takes.split(",")[0]) or one.takes.split("|")[-1]
    )
    option = [one.option.split("/")[0], *([] if one.is_truth else [value])]
    unisono_here("fuse", "r.csv", "--set", f"{one.name}={value}", cwd=table)
    unisono_here("fuse", "r.csv", *option, cwd=table)
    assert len(heard) == 2
    assert heard[0][one.name] == heard[1][one.name]
    assert heard[0][one.name] is not None
    assert option[0] not in unisono_here("fuse", "--help").stdout.split()


def test_the_page_lists_every_setting_with_values_and_meaning():
    text = unisono_here("settings").stdout
    for title, _, settings in PAGE:
        assert title in text
        for one in settings:
            assert f"  {one.name}={one.takes}\n" in text
            assert one.about in text
    alone = unisono_here("settings", "lag").stdout
    assert "lag=" in alone
    assert "noise=" not in alone


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "nois=full"), "Did you mean 'noise'?"),
        (("--read", "duplicate=mean"), "Did you mean 'duplicates'?"),
        (("--set", "duplicates=mean"), "'duplicates' goes behind --read"),
        (("--read", "lag=2"), "'lag' goes behind --set"),
        (("--set", "model=mean"), "'model' is an option of its own: --model"),
        (("--set", "epsilon=.1"), "of: judges"),
        (("--set", "noise=loud"), "'loud' is not one of"),
        (("--set", "noise"), "give a value"),
        (("--set", "lag=1", "--lag", "2"), "lag is given twice"),
        (("--anotator", "x"), "--annotator"),
        (("--nois", "full"), "--noise"),
    ],
)
def test_what_is_misspelt_is_answered_with_the_way_out(table, arguments, words):
    done = unisono_here("fuse", "r.csv", *arguments, "--out", "out", cwd=table)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (table / "out").exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fsue", "Did you mean 'fuse'?"),
        (("settings", "nois"), "Did you mean 'noise'?"),
        (("simulate", "item"), "items"),
    ],
)
def test_a_misspelt_name_of_a_command_or_setting(command, words):
    done = unisono_here(*([command] if isinstance(command, str) else command))
    assert done.returncode == 2
    assert words in done.stderr


def test_settings_of_simulations_belong_to_items_or_to_series(tmp_path):
    done = unisono_here("simulate", "items", "--set", "frames=5", "--out", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "'frames'" in done.stderr


def test_labels_may_be_given_in_parts(tmp_path):
    (tmp_path / "r.csv").write_text("item,annotator,v\n1,x,lo\n1,y,hi\n2,x,hi\n2,y,lo\n3,x,dk\n3,y,hi\n")
    by_parts = unisono_here("check", "r.csv", "--labels", "lo=1,hi=2", "--read", "labels=dk=", "--json", cwd=tmp_path)
    at_once = unisono_here("check", "r.csv", "--read", "labels=lo=1,hi=2,dk=", "--json", cwd=tmp_path)
    assert by_parts.returncode == 0, by_parts.stderr
    assert by_parts.stdout == at_once.stdout


def test_structure_words_are_told_to_be_of_traces():
    for one in STRUCTURE:
        if one.name in ("transform", "noise", "inference"):
            assert "for traces" in one.about


@pytest.mark.parametrize("arguments", [(), *((name,) for name in cli.list_commands(click.Context(cli)))])
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys\nfrom unisono.cli.main import cli\n"
        f"cli.main({[*arguments, '--help']!r}, standalone_mode=False)\n"
        "print(sorted({'numpy', 'scipy', 'polars', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_small_fuse_loads_no_part_of_scipy_that_it_does_not_use(tmp_path):
    (tmp_path / "r.csv").write_text("item,annotator,v\n1,x,1\n1,y,2\n2,x,4\n2,y,3\n3,x,2\n3,y,5\n")
    code = (
        "import sys\nfrom unisono.cli.main import cli\n"
        "cli.main(['fuse', 'r.csv', '--out', 'out'], standalone_mode=False)\n"
        "heavy = {'stats', 'ndimage', 'optimize', 'interpolate', 'fft', 'signal', 'spatial'}\n"
        "print(sorted(heavy & {name.removeprefix('scipy.') for name in sys.modules if name.startswith('scipy.')}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]"
