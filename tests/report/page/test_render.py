"""The page says what report.json says, safely, and leaves nothing out."""

import re
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from report_cases import (
    awkward_ratings,
    dossier_of,
    dossier_of_both,
    dossier_of_categories,
    dossier_of_items,
    dossier_of_judges,
    dossier_of_traces,
    summaries,
)
from unisono.evaluate.alerts import ASSUMED, COPIES, FEW_LABELS, NO_REFERENCE, NO_SIGNAL, OTHER_UNITS, USELESS
from unisono.evaluate.annotator_findings import TRACING
from unisono.fusers import make_fuser
from unisono.maths.groups.judge_tests import HARMFUL
from unisono.maths.groups.judge_tests import USELESS as USELESS_JUDGE
from unisono.report.report_alerts import ADVICE, MOST_NAMED, TRACING_WORDS, look_at
from unisono.report.report_figures import as_interval, as_number, as_probability, as_share, matrix_figure, strip_figure
from unisono.report.report_highlights import STRANGERS, in_short
from unisono.report.report_page import OF_CATEGORIES, TERMS, render_page, sections_of
from unisono.report.report_truths import correlations
from unisono.tables.ratings import Ratings

SECTIONS = ("look", "read", "coverage", "agreement", "truth", "annotators", "dimensions", "model", "again", "words")
ROOT = Path(__file__).parents[3]


class Outline(HTMLParser):
    """Ids, elements, and the cells of tables by the table's id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.tags, self.cells, self._table, self._cell = [], [], {}, None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "table":
            self._table = found.get("id")
        if tag in ("td", "th") and self._table:
            self._cell = []

    def handle_data(self, data):
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self._cell is not None:
            self.cells.setdefault(self._table, []).append(" ".join("".join(self._cell).split()))
            self._cell = None
        if tag == "table":
            self._table = None


CASES = {
    "items": dossier_of_items,
    "traces": dossier_of_traces,
    "judges": dossier_of_judges,
    "both": dossier_of_both,
}
MORE = {"judges": ("kinds",), "both": ("categories",)}
FEWER = {"traces": ("dimensions",), "both": ("dimensions",)}  # one dimension each


@pytest.fixture(scope="module", params=CASES)
def data(request):
    return CASES[request.param]()


@pytest.mark.parametrize("name", CASES)
def test_every_section_is_there_once_and_ids_are_unique(name):
    page = Outline(render_page(CASES[name]()))
    assert len(page.ids) == len(set(page.ids))
    sections = [found["id"] for tag, found in page.tags if tag == "section"]
    assert set(sections) - set(MORE.get(name, ())) == set(SECTIONS) - set(FEWER.get(name, ()))
    assert set(MORE.get(name, ())) < set(sections)
    links = [found["href"][1:] for tag, found in page.tags if tag == "a"]
    assert set(links) <= set(page.ids)


def test_categories_alone_have_a_page_of_their_own():
    data = dossier_of_categories()
    page = Outline(render_page(data))
    assert [found["id"] for tag, found in page.tags if tag == "section"] == list(OF_CATEGORIES)
    assert {found["href"][1:] for tag, found in page.tags if tag == "a"} <= set(page.ids)
    (found,) = data["categories"]
    shown = page.cells["classes-table-0"]
    for row in found["rows"]:
        at = shown.index(row["item"])
        assert shown[at + 1 : at + 3] == [row["class"], as_probability(row["probability"])]
        assert shown[at + 3] == " ".join(
            f"{label} {n}" for label, n in zip(found["classes"], row["votes"], strict=True) if n
        )
    people = page.cells["accuracy-table-0"]
    for row in found["people"]["rows"]:
        assert people[people.index(row["annotator"]) + 2] == as_number(row["accuracy"], 2)


def test_kinds_in_the_table_are_those_of_the_data():
    data = dossier_of_judges()
    cells = Outline(render_page(data)).cells
    (judges,) = [one for one in data["summary"]["kinds"]["groups"] if one["kind"] == "judge"]
    for d, name in enumerate(data["dimensions"]):
        row = cells["kinds-table"][9 * (d + 1) : 9 * (d + 2)]
        assert row[:2] == ["judge", name]
        expected = [as_number(judges[what][name]) for what in ("leniency", "gain", "shared_error")]
        assert row[4:] == [*expected, as_share(judges["share"][name]), as_number(judges["effective"][name])]
    first = data["replacements"][0]
    at = cells["replacements-table"].index(first["annotator"])
    told = f"{first['verdict'][0]} ({as_number(first['correlation'][0], 2)})"
    assert cells["replacements-table"][at + 2] == told


def test_leakage_is_told_where_there_is_any():
    data = dossier_of_judges()
    cells = Outline(render_page(data)).cells["people-table"]
    assert cells.count("strongest leakage") == len(data["dimensions"])
    judge = next(row for row in data["annotators"]["rows"] if row["kind"] == "judge")
    own = judge["transform"][0]
    e = max(range(1, len(own)), key=lambda i: abs(own[i]))
    assert f"{as_number(own[e], 2)} from {data['dimensions'][e]}" in cells
    assert "strongest leakage" not in Outline(render_page(dossier_of_items())).cells["people-table"]


def test_alerts_of_one_kind_are_told_together():
    data = dossier_of(awkward_ratings())
    alike = [{"kind": "spammers", "severity": "warning", "message": f"w{i} ..."} for i in range(9)]
    data["summary"]["alerts"] = [*alike, *data["summary"]["alerts"]]
    kinds = [one["kind"] for one in look_at(data)]
    assert len(set(kinds)) == len(kinds)
    (found,) = [one for one in look_at(data) if one["kind"] == "spammers"]
    assert found["messages"][0] == "w0 ..."
    assert len(found["messages"]) == MOST_NAMED + 1
    assert "more like these" in found["messages"][-1]


def test_one_file_that_asks_for_nothing(data):
    page = Outline(render_page(data))
    for tag, found in page.tags:
        assert tag not in ("link", "iframe", "img"), tag
        assert "src" not in found
        assert found.get("href", "#").startswith("#"), found
    assert len(render_page(data)) < 1_000_000


def test_estimates_in_the_table_are_those_of_the_data():
    data = dossier_of_items()
    cells = Outline(render_page(data)).cells["truth-table"]
    at = {cell: i for i, cell in enumerate(cells)}
    for row in data["truth"]["rows"]:
        start = at[row["item"]] + 2
        shown = cells[start : start + 3 * len(data["dimensions"])]
        expected = [
            text
            for estimate, _, low, high, mean in row["values"]
            for text in (as_number(estimate), f"{as_number(low)} – {as_number(high)}", as_number(mean))
        ]
        assert shown == expected


def test_agreement_in_the_table_is_that_of_the_data(data):
    cells = Outline(render_page(data)).cells["agreement-table"]
    for one in data["agreement"]["dimensions"]:
        assert " ".join(as_interval(one["figures"]["ICC(A,1)"]).split()) in cells


def test_names_that_are_code_stay_names():
    text = render_page(dossier_of(awkward_ratings()))
    assert "<img src=x" not in text
    assert "</script><b>" not in text
    page = Outline(text)
    assert not [tag for tag, _ in page.tags if tag in ("img", "b")]
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_alerts_come_first_with_what_to_do():
    data = dossier_of(awkward_ratings())
    alerts = look_at(data)
    severities = [one["severity"] for one in alerts]
    assert severities == sorted(severities, reverse=True)  # warnings, then notes
    assert {"constant-raters", "single-rating-items"} <= {one["kind"] for one in alerts}
    text = render_page(data)
    for one in alerts:
        assert one["advice"] == ADVICE[one["kind"]]
        assert ADVICE[one["kind"]].split("`")[0][:30].replace("'", "&#39;") in text


def test_every_kind_of_alert_has_its_advice():
    source = (ROOT / "src/unisono/tables/rating_checks.py").read_text(encoding="utf-8")
    kinds = set(re.findall(r'Alert\("([a-z-]+)"', source)) | set(re.findall(r'_count\(\s*"([a-z-]+)"', source))
    kinds |= {
        "no-agreement",
        "constant-annotators",
        NO_SIGNAL,
        COPIES,
        NO_REFERENCE,
        ASSUMED,
        USELESS,
        FEW_LABELS,
        OTHER_UNITS,
    }
    assert len(kinds) > 15
    assert kinds <= set(ADVICE)


def test_an_end_names_its_item_or_how_many_share_it():
    data = deepcopy(dossier_of_items())
    data["truth"]["extremes"][0] = {
        "highest": {"item": "576", "estimate": 85.0, "equal": 1},
        "lowest": {"item": "525", "estimate": 0.0, "equal": 3},
    }
    assert in_short(data)[0].lines[0].text == "highest 85.0 (item 576), lowest 0 (3 items)"


@pytest.mark.parametrize("data", [dossier_of_items, dossier_of_traces, dossier_of_judges])
def test_commands_are_code_and_nobody_is_told_what_was_not_done(data):
    page = render_page(data() | {"held_out": {"why_not": "Long; `unisono compare` & others do it."}})
    assert "<code>unisono compare</code> &amp; others" in page
    seen = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    assert "`" not in seen
    assert "excluded by hand" not in seen


def test_one_dimension_is_no_joint_model():
    data = deepcopy(dossier_of_items())
    assert "by a joint model of all dimensions" in render_page(data)
    alone = dossier_of(summaries().select_dimensions(["overall"]))
    assert "by a model of bias, gain and noise of every annotator" in render_page(alone)


def test_many_items_are_a_density_and_few_a_stroke_each():
    points = [0.5 + 0.4 * np.sin(i) for i in range(301)]
    few, many = strip_figure(points[:300], (0.0, 1.0), "few"), strip_figure(points, (0.0, 1.0), "many")
    assert few.count('class="stroke"') > 100
    assert "density" not in few
    assert many.count('class="stroke"') == 0
    heights = [float(y) for y in re.findall(r"[\d.]+,([\d.]+)", many.split('points="')[1].split('"')[0])]
    assert min(heights) == 2.0  # the top of the hill
    assert heights[1 + 75 // 2] > heights[1 + 75 * 9 // 10]  # a sine is seldom in its middle, often at its ends


def test_correlations_of_answers_are_not_those_of_peoples_levels():
    rng = np.random.default_rng(0)
    shared, level = rng.normal(size=(200, 1)), np.repeat([-3.0, 3.0], 200)
    value = np.tile(shared * [1, 1], (2, 1)) + 0.3 * rng.normal(size=(400, 2)) + level[:, None] * [1, -1]
    labels = {"items": [f"i{m}" for m in range(200)], "annotators": ["a", "b"], "dimensions": ["x", "y"]}
    ratings = Ratings.from_judgements(value, np.tile(np.arange(200), 2), np.repeat([0, 1], 200), **labels)
    fused = make_fuser("mean", series=False).fit(ratings).fuse()
    assert np.corrcoef(value.T)[0, 1] < -0.5  # what levels make of it
    assert correlations(ratings, fused)["ratings"][0][1] > 0.8


def test_numbers_of_certainty_say_what_they_are():
    data = deepcopy(dossier_of_items())
    first, second, *_ = in_short(data)[1].lines
    assert first.text == "Typical ± (90 %), in units of the answers; reliability, 0 all error to 1 none [95 % interval]"
    assert re.fullmatch(r"± [\d.]+, reliability \.\d\d \[\.\d\d,\s[1.]\d*\.?\d\d\]", second.text)
    data["agreement"]["draws"] = 0
    assert in_short(data)[1].lines[0].text.endswith("to 1 none")


def test_no_verdict_is_given_where_an_interval_is_as_wide_as_half_the_scale():
    data = deepcopy(dossier_of_items())
    for one in data["agreement"]["dimensions"]:
        one["figures"]["reliability"] = {"value": 0.92, "low": 0.85, "high": 0.97}
    assert in_short(data)[1].sentence.startswith("Very: ")
    data["agreement"]["dimensions"][0]["figures"]["reliability"] = {"value": 0.9, "low": 0.31, "high": 0.99}
    name = data["dimensions"][0]
    assert in_short(data)[1].sentence == (
        f"Hard to say: on {name} reliability lies between .31 and .99; so few answers do not tell."
    )


def test_annotators_of_strangers_are_not_ranked_without_a_word():
    data = deepcopy(dossier_of_items())
    assert data["agreement"]["groups"] == 1
    assert STRANGERS not in [line.text for line in in_short(data)[2].lines]
    data["agreement"]["groups"] = 2
    assert in_short(data)[2].lines[0].text == STRANGERS


def test_the_order_of_differences_is_said_and_one_iteration_is_one():
    data = deepcopy(dossier_of_items())
    data["summary"] |= {"iterations": 1, "stop": "converged"}
    text = render_page(data)
    assert "in order of what is unusual on their dimension" in text
    assert "converged after 1 iteration." in text
    assert "Useless: no better than a constant." in render_page(dossier_of_judges())


def test_a_likely_spammer_is_neither_passed_over_nor_accused():
    data = deepcopy(dossier_of_items())
    data["summary"]["diagnosis"] |= {"spammers": [], "suspected": [{"annotator": "eve", "probability": 0.878}]}
    assert in_short(data)[2].sentence == "Look at eve first: more likely a spammer than not. Nobody else is."
    (found,) = [one for one in look_at(data) if one["kind"] == "suspected"]
    assert found["messages"] == ["eve is more likely a spammer than not (probability 0.878)."]
    assert found["advice"]
    assert found["severity"] == "note"  # the third answer says it too; a warning would push that off the screen
    data["summary"]["diagnosis"]["suspected"] = []
    assert in_short(data)[2].sentence.startswith("None of")


def test_every_finding_about_tracers_has_its_words():
    assert set(TRACING_WORDS) == set(TRACING)


def test_terms_are_the_first_sentences_of_the_glossary():
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^## (.+?)\n\n(.*?)(?=\nWhere:|\n## |\Z)", glossary, re.S | re.M))
    for name, sentence in TERMS.items():
        plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(entries[name].split()))
        assert plain.startswith(sentence), name


def test_methods_carry_the_numbers(data):
    text = render_page(data)
    assert f"{data['summary']['annotators']} annotators gave {data['summary']['judgements']}" in text
    assert data["summary"]["provenance"]["data_sha256"] in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (12.345, "12.3"),
        (-4.5678, "−4.57"),
        (12345.6, "12,346"),
        (0, "0"),
        (None, "–"),
        (1e-9, "1.00e−09"),
    ],
)
def test_numbers(value, text):
    assert as_number(value) == text


def test_shares_and_probabilities():
    assert [as_share(x) for x in (0.5, 0.123, 0.0123, None)] == ["50 %", "12 %", "1.2 %", "–"]
    assert [as_probability(x) for x in (1e-9, 0.25, 0.99999, None)] == ["<.001", ".250", ">.999", "–"]
    assert as_interval({"value": 0.523, "low": -0.1, "high": 1.0}) == ".52 [−.10,\N{NO-BREAK SPACE}1.00]"


def test_no_line_ends_inside_an_interval():
    assert " " not in as_interval({"value": 0.5, "low": 0.4, "high": 0.6}).partition("[")[2]


def test_one_dimension_has_no_section_on_how_dimensions_go_together():
    data = dossier_of_items()
    assert "dimensions" in sections_of(data)
    assert "dimensions" not in sections_of(data | {"dimensions": data["dimensions"][:1]})


@pytest.mark.parametrize(("names", "upright"), [(["joy", "calm"], False), (["pleasantness", "calm"], True)])
def test_names_stand_upright_where_they_would_run_into_one_another(names, upright):
    drawn = matrix_figure([[1.0, 0.2], [0.2, 1.0]], names, "Correlations")
    assert ("rotate(-90)" in drawn) == upright
    assert drawn.count(">calm</text>") == 2


def test_judges_who_fail_the_test_are_told_with_the_dimensions_where_they_do():
    data = deepcopy(dossier_of_judges())
    data["replacements"] = [
        {"annotator": "mild", "kind": "judge", "verdict": ["helps", f"{USELESS_JUDGE}: tells nothing"]},
        {"annotator": "poor", "kind": "judge", "verdict": [HARMFUL, HARMFUL]},
        {"annotator": "good", "kind": "judge", "verdict": ["may replace a person", "helps"]},
    ]
    (found,) = [one for one in look_at(data) if one["kind"] == "no-replacement"]
    assert found["messages"] == [
        f"mild is {USELESS_JUDGE} beside people on {data['dimensions'][1]}.",
        f"poor is {HARMFUL} beside people on every dimension.",
    ]


def test_an_all_clear_does_not_hide_who_always_gives_the_same_answer():
    data = deepcopy(dossier_of_items())
    alert = {"kind": "constant-raters", "severity": "warning", "message": "Annotator gives joy the same value: x."}
    others = [one for one in data["summary"]["alerts"] if one["kind"] != "constant-raters"]
    for alerts, said in (([], ""), ([alert], alert["message"]), ([alert, alert], "2 dimensions above.")):
        data["summary"]["alerts"] = [*others, *alerts]
        sentence = in_short(data)[2].sentence
        assert sentence.endswith(said)
        assert ("same value" in sentence) == (len(alerts) == 1)
