"""Study files: what is wrong with one is said with its file, its key, its value and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from collect_support import RATE_STUDY, TRACE_STUDY, rate_study, trace_study
from unisono.collect.studies import Keys, load_study, open_folder
from unisono.collect.studies.folder import STARTERS, write_starter
from unisono.errors import DataError

RATE = RATE_STUDY.format(per_regime=3)
TRACE = TRACE_STUDY.format(count=1, seconds=3, countdown=0)


@pytest.mark.parametrize("name", STARTERS)
def test_every_starter_is_a_valid_study(name: str, tmp_path: Path) -> None:
    write_starter(tmp_path / "new", name)
    assert load_study(tmp_path / "new" / "study.toml").dimensions


def test_a_starter_never_overwrites_a_study(tmp_path: Path) -> None:
    write_starter(tmp_path, "my-texts")
    (tmp_path / "study.toml").write_text("mine")
    with pytest.raises(DataError, match="there is a study here already"):
        write_starter(tmp_path, "my-texts")
    assert (tmp_path / "study.toml").read_text() == "mine"


# what is in the file -> what is put there instead -> what the message must say
BROKEN = [
    ('mode = "rate"', 'mode = "rat"', ["mode is 'rat'", "'rate', 'trace'"]),
    ('mode = "rate"', 'moode = "rate"', ["moode is not known", "Did you mean 'mode'?"]),
    ('mode = "rate"', "", ["mode is missing"]),
    ('mode = "rate"', 'mode = "trace"', ["mode is 'trace'", "Only moving items can be traced"]),
    ('title = "Colours"', "title = 3", ["title is 3", "text in quotes"]),
    ('title = "Colours"', 'title = " "', ["title is ' '", "Give the study a title"]),
    ('title = "Colours"', 'title = "Colours', ["not valid TOML", "line 2"]),
    ('name = "saturation"', 'name = "item"', ["dimensions[1].name is 'item'", "choose another"]),
    ('name = "saturation"', 'name = "brightness"', ["dimensions[2].name is 'brightness'", "Another dimension"]),
    ('name = "saturation"', 'name = "a,b"', ["dimensions[1].name is 'a,b'", "Start with a letter"]),
    ('["grey", "medium", "pure"]', '["grey"]', ["dimensions[1].anchors", "Label at least both ends"]),
    ('["grey", "medium", "pure"]', '[{at=-5, label="x"}, {at=5, label="y"}]', ["dimensions[1].anchors is -5.0"]),
    ('question = "How saturated?"', 'question = "q"\nmin = 10\nmax = 2', ["dimensions[1].min is 10.0", "below max"]),
    ('question = "How saturated?"', 'question = "q"\nmin = "low"', ["dimensions[1].min is 'low'", "a number"]),
    ('question = "How saturated?"', 'question = "q"\nstep = 0', ["dimensions[1].step is 0.0"]),
    ('question = "How saturated?"', 'question = "q"\nmax = nan', ["dimensions[1].min", "finite"]),
    ('question = "How saturated?"', 'question = "q"\nmax = 10', ["dimensions[1].max is 10.0", "0 to 100"]),
    ("per_regime = 3", "per_regime = 0", ["items.per_regime is 0", "at least 1"]),
    ("per_regime = 3", "per_regime = 3\nfixed = 130", ["items.fixed is 130.0"]),
    ("per_regime = 3", "per_regime = 3\n[design]\nitems_per_rater = -1", ["design.items_per_rater is -1"]),
    ("per_regime = 3", '[[pads]]\nx = "saturation"\ny = "brightnes"', ["pads[1].y", "Did you mean 'brightness'?"]),
    ("per_regime = 3", "[reference]\nevery = 0", ["reference.every is 0"]),
    ("per_regime = 3", "[reference]\nvalues = { saturation = 5 }", ["reference.values.brightness is None"]),
    ("per_regime = 3", '[[checks]]\nafter = 1\ntext = "t"\nexpected = { x = 1 }', ["checks[1].expected is 'x'"]),
    (
        "per_regime = 3",
        '[[checks]]\nafter = 1\ntext = "t"\nexpected = { saturation = 101 }',
        ["checks[1].expected.saturation is 101.0", "0.0 to 100.0"],
    ),
    ("per_regime = 3", '[raters]\nsource = "prolific"', ["raters.completion_code is ''", "Prolific"]),
    ("per_regime = 3", '[raters]\nreturn_url = "javascript:alert(1)"', ["raters.return_url", "https://"]),
]


@pytest.mark.parametrize(("found", "instead", "said"), BROKEN, ids=[f"{b[0][:12]}-{b[1][:30]}" for b in BROKEN])
def test_a_bad_study_says_file_key_value_and_way_out(found: str, instead: str, said: list[str], tmp_path: Path) -> None:
    assert found in RATE
    path = tmp_path / "study.toml"
    path.write_text(RATE.replace(found, instead, 1))
    with pytest.raises(DataError) as caught:
        load_study(path)
    for part in [str(path), *said]:
        assert part in str(caught.value)


def test_a_rate_of_zero_and_a_missing_folder_are_said(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TRACE.replace("rate = 25", "rate = 0"))
    with pytest.raises(DataError, match=r"trace\.rate is 0\.0"):
        load_study(tmp_path / "study.toml")
    with pytest.raises(DataError, match="no such folder"):
        open_folder(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no study file here"):
        open_folder_of(tmp_path / "empty")


def open_folder_of(path: Path) -> None:
    path.mkdir()
    open_folder(path)


def files_study(folder: Path, extra: str = "", items: str = 'source = "files"') -> None:
    text = RATE.replace('source = "colours"', items)
    text = text.replace('regimes = ["saturation", "brightness"]', "").replace("per_regime = 3", "")
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(text + extra)


def test_files_are_items_in_natural_order_and_roles_are_kept_apart(tmp_path: Path) -> None:
    files_study(tmp_path, '\n[reference]\nitems = ["img10.png"]\n[practice]\nitems = ["sub/x.png"]\n')
    (tmp_path / "media" / "sub").mkdir(parents=True)
    for name in ("img10.png", "img20.png", "img2.png", "img30.png", "img1.PNG", "img3.png", "sub/x.png", "notes.txt"):
        (tmp_path / "media" / name).write_bytes(b"x")
    found = open_folder(tmp_path).catalogue
    assert [item.name for item in found.items] == ["img1.PNG", "img2.png", "img3.png", "img20.png", "img30.png"]
    assert [item.name for item in found.references] == ["img10.png"]
    assert [item.name for item in found.practice] == ["sub/x.png"]


def test_an_empty_folder_and_a_wrong_name_are_said(tmp_path: Path) -> None:
    files_study(tmp_path)
    with pytest.raises(DataError, match=r"items\.folder is 'media'.*holds no image"):
        open_folder(tmp_path)
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "lake.png").write_bytes(b"x")
    files_study(tmp_path, '\n[reference]\nitems = ["lak.png"]\n')
    with pytest.raises(DataError, match=r"reference\.items is 'lak\.png'.*Did you mean 'lake\.png'"):
        open_folder(tmp_path)


def test_media_come_only_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"x")
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    files_study(study)
    (study / "media" / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(DataError, match="a link out of"):
        open_folder(study)
    files_study(study, items='source = "files"\nfolder = ".."')
    with pytest.raises(DataError, match=r"items\.folder is '\.\.', outside"):
        open_folder(study)


def test_texts_come_from_a_table_with_known_truth_for_some(tmp_path: Path) -> None:
    files_study(tmp_path, items='source = "table"\ntruth = "truth.csv"')
    (tmp_path / "texts.csv").write_text('item,text\nt1,"Hello, you"\nt2,Bye\n')
    (tmp_path / "truth.csv").write_text("item,saturation,brightness\nt2,5,\n")
    found = open_folder(tmp_path).catalogue
    assert [(item.name, item.text, item.truth) for item in found.items] == [
        ("t1", "Hello, you", {}),
        ("t2", "Bye", {"saturation": 5.0}),
    ]
    (tmp_path / "truth.csv").write_text("item,saturation\nt2,n/a\n")
    with pytest.raises(DataError, match=r"truth\.csv row 2.*Leave the cell empty"):
        open_folder(tmp_path)
    (tmp_path / "texts.csv").write_text("item,text\nt1,a\nt1,b\n")
    with pytest.raises(DataError, match=r"texts\.csv row 3: item is 't1'"):
        open_folder(tmp_path)


def test_tokens_are_long_different_and_stay_the_same(tmp_path: Path) -> None:
    keys, again = Keys.of(tmp_path), Keys.of(tmp_path)
    assert keys.rater_token("a") == again.rater_token("a") != keys.rater_token("b")
    assert len(keys.admin_token) == 40
    assert keys.admin_token not in keys.admin_cookie_name
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600
    assert keys.rater_name(keys.rater_token("a")) == "a"
    assert keys.rater_name("a." + keys.rater_token("b").partition(".")[2]) is None
    (tmp_path / "secret.key").write_text("short")
    with pytest.raises(DataError, match="not a secret"):
        Keys.of(tmp_path)


def test_passes_are_one_per_dimension_unless_a_pad_joins_them(tmp_path: Path) -> None:
    assert trace_study(tmp_path / "a").study.passes == [["saturation"], ["brightness"]]
    pad = '\n[[pads]]\nx = "saturation"\ny = "brightness"\n'
    assert trace_study(tmp_path / "b", extra=pad).study.passes == [["saturation", "brightness"]]
    assert rate_study(tmp_path / "c").study.passes == [["saturation", "brightness"]]
