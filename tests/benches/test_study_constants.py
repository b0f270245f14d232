"""What the default for items owes to its constants: the choice for a study never sees that study."""

import pytest

from benchmarks import study_constants
from benchmarks.study_constants import choices, constants_table, gains_by_setting, main, without_table
from benchmarks.study_models import CONSTANTS, fuser_of
from study_folders import folder_of

FIRST, SECOND = list(CONSTANTS)[:2]


def row(study, model, pearson, ccc=None, error=None):
    return {
        "study": study, "per_item": 0, "seed": 0, "model": model, "pearson": pearson, "ccc": ccc, "error": error,
        "cover": 0.9,
    }  # fmt: skip


def rows():
    """The first setting is best on all studies together, because of study b alone; the second one everywhere else."""
    found = [row(study, "mean", 0.5, 0.5, 1.0) for study in "abc"]
    found += [row(study, "auto", 0.6, 0.6, 0.8) for study in "abc"]
    found += [row(study, FIRST, pearson, 0.6, 0.5) for study, pearson in zip("abc", (0.59, 0.9, 0.59), strict=True)]
    found += [row(study, SECOND, pearson, 0.6, 0.7) for study, pearson in zip("abc", (0.62, 0.6, 0.62), strict=True)]
    return found


def test_the_setting_of_a_study_is_chosen_on_the_others():
    chosen = choices(gains_by_setting(rows()))
    assert {study: one.setting for study, one in chosen.items()} == {"a": FIRST, "b": SECOND, "c": FIRST}
    assert chosen["b"].gains["pearson"] == pytest.approx(0.1)
    assert chosen["a"].gains["pearson"] == pytest.approx(0.09)
    assert chosen["a"].gains["error"] == pytest.approx(0.5)


def test_settings_measured_in_part_choose_nothing():
    found = gains_by_setting(rows()[:-1])
    assert list(found) == ["auto", FIRST]


def test_averages_stand_below_the_studies():
    found = gains_by_setting(rows())
    *_, last = without_table(found).splitlines()
    assert last == "| average | +.1000 | +.1000 | 20 % (20 %) |  | +.0933 | +.1000 | 50 % (43 %) |"
    _, _, default, first, _ = constants_table(found).splitlines()
    assert default == "| auto | +.1000 | +.1000 | 20 % (20 %) |  |"
    assert first == f"| {FIRST} | +.1933 | +.1000 | 50 % (50 %) | a -.0100, b +.3000 |"


def test_every_constant_is_a_setting_of_the_default():
    for name in CONSTANTS:
        fuser = fuser_of(name)
        word, value = name.split()
        own = fuser.panel if word == "panel" else fuser.priors[word]
        assert own == float(value)
    usual = fuser_of("auto")
    assert (usual.panel, usual.priors) == (10.0, None)


def test_a_run_measures_and_fills_the_page(tmp_path, monkeypatch):
    folder, _ = folder_of(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("".join(f"<!-- {name} -->\n<!-- end {name} -->\n" for name in ("constants", "without")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study_constants, "PAGE", page)
    monkeypatch.setattr(study_constants, "CONSTANTS", {FIRST: CONSTANTS[FIRST]})
    main([str(folder), "--seeds", "1", "--jobs", "1"])
    text = page.read_text()
    assert "page-constants.csv" in text
    assert f"\n{FIRST}," in (tmp_path / "tables" / "page-constants.csv").read_text()
    assert "\nsplit," in (tmp_path / "tables" / "page-without.csv").read_text()
    main([str(folder), "--seeds", "1", "--render"])
    assert page.read_text() == text
