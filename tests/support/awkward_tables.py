"""Awkward tables as people have them, each read right, or refused with ways out that work when they are pasted.

A table is made by a seeded draw, so that it has as many answers as a small study; what must come out is its counts, the
lowest and highest answer of every dimension, and where it matters the scale.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """What `unisono check --json` has to find."""

    counts: tuple[int, int, int]  # items, annotators, numbers that were answered
    ends: dict[str, tuple[float, float]]  # lowest and highest answer of every dimension
    scale: dict[str, str] | None = None  # in words
    notes: tuple[str, ...] = ()  # words that occur in what is told
    left_out: frozenset[str] | None = None
    traces: bool = False


@dataclass(frozen=True)
class Awkward:
    """One table, what is said on the command line, and either how it is read, or why not and what the ways out give."""

    name: str
    content: bytes
    say: tuple[str, ...] = ()
    outcome: Outcome | None = None
    refusal: str = ""
    ways: tuple[Outcome, ...] = ()


TABLES: list[Awkward] = []


def reads(name: str, content: str | bytes, outcome: Outcome, *say: str) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    TABLES.append(Awkward(name, data, say, outcome))


def refuses(name: str, content: str | bytes, refusal: str, *ways: Outcome, say: tuple[str, ...] = ()) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    TABLES.append(Awkward(name, data, say, refusal=refusal, ways=ways))


_WAY = re.compile(r"""(?:--[a-z-]+\ (?:'[^']*'|"[^"]*"|[^\s'"]+(?<![.;,)]))\ ?)+""")


def ways_out(message: str) -> list[str]:
    """The options that a message suggests, as they would be pasted; those that go together are one way.

    What is in capitals (`--item COLUMN`) is to be replaced first, and is no way out by itself.
    """
    found = [found.strip() for found in _WAY.findall(message)]
    return [one for one in found if not re.search(r" [A-Z=,]+$", one)]


def drawn(seed: int, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Answers from low to high, both of which occur, about items (axis 0) that differ."""
    rng = np.random.default_rng(seed)
    level = np.linspace(low, high, shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    found = np.clip(np.round(level + rng.normal(0, (high - low) / 6, shape)), low, high).astype(int)
    found[0], found[-1] = low, high
    return found


def long(
    dims: Sequence[str] = ("v",),
    low: int = 1,
    high: int = 4,
    *,
    items: int = 8,
    annotators: int = 4,
    cell: Callable[[int], object] = str,
    instead: dict[tuple[int, int, int], object] | None = None,
    header: str = "item,annotator",
) -> str:
    """One row per item and annotator; `instead` are other cells at (item, annotator, dimension)."""
    value = drawn(len(dims) + high, (items, annotators, len(dims)), low, high)
    other = instead or {}
    rows = [f"{header},{','.join(dims)}"]
    for m in range(items):
        for k in range(annotators):
            cells = [str(other.get((m, k, d), cell(int(value[m, k, d])))) for d in range(len(dims))]
            rows.append(f"i{m},a{k},{','.join(cells)}")
    return "\n".join(rows) + "\n"


def written(rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells as CSV, quoted where it is needed."""
    import csv

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


# Codes for missing answers
FULL = (8, 4, 32)
CODE = {(1, 2, 0): -99, (5, 0, 0): -99}
refuses(
    "-99 on a scale from 1 to 4",
    long(instead=CODE),
    "r.csv row 8: v is -99, where all others are from 1 to 4 (2 answers are such a number)",
    Outcome((8, 4, 30), {"v": (1, 4)}, {"v": "scale 1 to 4 (inferred)"}),
    Outcome(FULL, {"v": (-99, 4)}, {"v": "scale -99 to 4"}),
)
refuses(
    "999 once",
    long(instead={(1, 2, 0): 999}),
    "v is 999",
    Outcome((8, 4, 31), {"v": (1, 4)}),
    Outcome(FULL, {"v": (1, 999)}),
)
refuses(
    "9 on a scale from 1 to 4",
    long(instead={(1, 2, 0): 9, (5, 1, 0): 9}),
    "v is 9",
    Outcome((8, 4, 30), {"v": (1, 4)}),
    Outcome(FULL, {"v": (1, 9)}),
)
refuses(
    "8 for do not know and 9 for no answer",
    long(instead={(1, 2, 0): 9, (5, 1, 0): 8}),
    "v is 9, where all others are from 1 to 4 (2 answers are such a number)",
    Outcome((8, 4, 30), {"v": (1, 4)}),
    Outcome(FULL, {"v": (1, 9)}),
)
refuses(
    "-1 on a slider from 0 to 100",
    long(low=0, high=100, instead={(1, 2, 0): -1, (5, 1, 0): -1}),
    "v is -1",
    Outcome((8, 4, 30), {"v": (0, 100)}, {"v": "scale 0 to 100 (inferred)"}),
    Outcome(FULL, {"v": (-1, 100)}),
)
refuses(
    "-1 on a scale from 1 to 7",
    long(high=7, instead={(1, 2, 0): -1}),
    "v is -1",
    Outcome((8, 4, 31), {"v": (1, 7)}),
    Outcome(FULL, {"v": (-1, 7)}),
)
refuses(
    "-9 on a scale from 1 to 5",
    long(high=5, instead={(1, 2, 0): -9, (5, 1, 0): -8}),
    "v is -9",
    Outcome((8, 4, 30), {"v": (1, 5)}),
    Outcome(FULL, {"v": (-9, 5)}),
)
refuses(
    "99 in several dimensions",
    long(("v", "a"), high=7, instead={(1, 2, 0): 99, (1, 2, 1): 99, (5, 1, 1): 99}),
    "(it is such a number, and likewise in 'a')",
    Outcome((8, 4, 61), {"v": (1, 7), "a": (1, 7)}),
    Outcome((8, 4, 64), {"v": (1, 99), "a": (1, 99)}),
)
refuses(
    "9 on a scale from 1 to 7, in two dimensions",
    long(("v", "a"), high=7, instead={(1, 2, 0): 9, (1, 2, 1): 9}),
    "v is 9",
    Outcome((8, 4, 62), {"v": (1, 7), "a": (1, 7)}),
    Outcome((8, 4, 64), {"v": (1, 9), "a": (1, 9)}),
)
refuses(
    "a code of one's own, again and again",
    long(instead={(1, 2, 0): 55, (5, 1, 0): 55, (6, 1, 0): 55}),
    "v is 55",
    Outcome((8, 4, 29), {"v": (1, 4)}),
    Outcome(FULL, {"v": (1, 55)}),
)
refuses(
    "-99 in a table with one row per number",
    "item,annotator,dimension,value\n"
    + "".join(
        f"i{m},a{k},v,{x if (m, k) != (1, 2) else -99}\n"
        for m, row in enumerate(drawn(1, (8, 4), 1, 4))
        for k, x in enumerate(row)
    ),
    "v is -99",
    Outcome((8, 4, 31), {"v": (1, 4)}),
    Outcome(FULL, {"v": (-99, 4)}),
)
reads("-99 that was explained", long(instead=CODE), Outcome((8, 4, 30), {"v": (1, 4)}), "--labels", "-99=")
reads("9 explained as a number", long(instead={(1, 2, 0): 9}), Outcome(FULL, {"v": (1, 4)}), "--labels", "9=4")
reads(
    "a code that is not there",
    long(),
    Outcome(FULL, {"v": (1, 4)}, notes=("No answer is '-99'",)),
    *("--missing", "-99"),
)
reads("99 on a slider", long(low=0, high=99), Outcome(FULL, {"v": (0, 99)}))
reads("9 on a scale from 1 to 9", long(high=9), Outcome(FULL, {"v": (1, 9)}, {"v": "scale 1 to 9 (inferred)"}))
reads("9 where 8 was rare", long(high=7, instead={(7, 2, 0): 9}), Outcome(FULL, {"v": (1, 9)}))
reads("-1, 0 and 1", long(low=-1, high=1), Outcome(FULL, {"v": (-1, 1)}, {"v": "scale -1 to 1 (inferred)"}))
reads("a typing error", long(instead={(1, 2, 0): 44}), Outcome(FULL, {"v": (1, 44)}))

refuses(
    "a word for missing among numbers",
    long(instead={(1, 2, 0): "refused"}),
    "r.csv row 8: v is 'refused'",
    Outcome((8, 4, 31), {"v": (1, 4)}),
    Outcome(FULL, {"v": (1, 4)}),
)
reads(
    "several codes, in words and in numbers",
    long(instead={(1, 2, 0): "refused", (2, 2, 0): -99}),
    Outcome((8, 4, 30), {"v": (1, 4)}),
    *("--missing", "refused,-99"),
)

# Scales
reads("0, 1 and 2", long(low=0, high=2), Outcome(FULL, {"v": (0, 2)}, {"v": "scale 0 to 2 (inferred)"}))
reads(
    "0, 1 and 2, seldom",
    "item,annotator,v\n1,x,0\n1,y,1\n2,x,2\n2,y,1\n3,x,1\n3,y,0\n",
    Outcome((3, 2, 6), {"v": (0, 2)}, {"v": "scale 0 to 2 (inferred)"}),
)


# Times
def traced(stamp: Callable[[float], str], *, recordings: int = 2, header: str = "recording,time,annotator,v") -> str:
    """Traces of two recordings (or of one, which has no column) by three annotators, 20 samples each."""
    rows = [header]
    for m in range(recordings):
        for k in range(3):
            for n in range(20):
                v = np.sin(n / 3 + m) + 0.1 * np.cos(7.1 * n + k)
                rows.append(",".join([*([f"r{m}"] if recordings > 1 else []), stamp(n / 2), f"a{k}", f"{v:.3f}"]))
    return "\n".join(rows) + "\n"


def minutes(seconds: float) -> str:
    return f"{int(seconds // 60):02d}:{seconds % 60:04.1f}"


WAVE, HALF = {"v": (-1.089, 1.093)}, {"v": (-0.97, 1.093)}
TWO = Outcome((2, 3, 120), WAVE, traces=True)
ONE = Outcome((1, 3, 60), HALF, notes=("No column names the recording",), traces=True)
DAY = "2024-05-01"
reads("hours, minutes and seconds", traced(lambda s: f"00:{minutes(s)}"), TWO)
reads("minutes and seconds", traced(minutes), TWO)
reads("minutes and seconds with a decimal comma", traced(lambda s: f'"{minutes(s).replace(".", ",")}"'), TWO)
reads("durations as pandas writes them", traced(lambda s: f"0 days 00:{minutes(s)}00000"), TWO)
MOMENTS = Outcome((2, 3, 120), WAVE, notes=("counted from the first moment of every recording",), traces=True)
reads("moments with a letter T", traced(lambda s: f"{DAY}T10:{minutes(s)}"), MOMENTS)
reads("moments in UTC", traced(lambda s: f"{DAY}T10:{minutes(s)}Z"), MOMENTS)
reads("moments with a time zone", traced(lambda s: f"{DAY} 23:{minutes(s)}+02:00"), MOMENTS)
reads("one recording, which no column names", traced(str, recordings=1, header="time,annotator,v"), ONE)
reads("one recording by the clock", traced(minutes, recordings=1, header="time,annotator,v"), ONE)
SIDE = "time,{}\n" + "".join(f"{n / 2},{n % 5},{(n + 1) % 5},{n % 4}\n" for n in range(20))
reads(
    "one recording, annotators side by side",
    SIDE.format("rater1,rater2,rater3"),
    Outcome((1, 3, 60), {"rating": (0, 4)}, notes=("No column names the recording",), traces=True),
)
refuses(
    "one recording, people side by side",
    SIDE.format("anna,ben,carl"),
    "r.csv has no column that looks like the annotator; it has 'time', 'anna', 'ben' and 'carl'.",
    Outcome((1, 3, 60), {"rating": (0, 4)}, traces=True),
)
refuses(
    "times with frames",
    traced(lambda s: f"00:{int(s // 60):02d}:{int(s % 60):02d}:12"),
    "is '00:00:00:12', which is no time",
)
refuses("clock times said to be milliseconds", traced(minutes), "so it is not in ms", say=("--time-unit", "ms"))
reads(
    "when somebody answered",
    "item,annotator,timestamp,v\n"
    + "".join(
        f"i{m},a{k},{DAY} 1{k}:0{m}:00,{x}\n" for m, row in enumerate(drawn(3, (8, 4), 1, 5)) for k, x in enumerate(row)
    ),
    Outcome(FULL, {"v": (1, 5)}, left_out=frozenset({"timestamp"})),
)


# Words of other languages
ONE_TO_FIVE = {"v": (1, 5)}


def said(family: str) -> Outcome:
    return Outcome(FULL, ONE_TO_FIVE, {"v": "scale 1 to 5 (inferred)"}, (f"Words of {family} were coded in 'v'",))


def in_words(*words: str) -> str:
    return long(high=len(words), cell=lambda grade: words[grade - 1])


GERMAN = (
    "stimme überhaupt nicht zu",
    "stimme eher nicht zu",
    "teils/teils",
    "stimme eher zu",
    "stimme voll und ganz zu",
)
reads("German agreement", in_words(*GERMAN), said("agreement in German"))
reads("German frequency", in_words("nie", "selten", "manchmal", "oft", "immer"), said("frequency in German"))
FRENCH = ("Pas du tout d’accord", "Plutôt pas d’accord", "Neutre", "Plutôt d’accord", "Tout à fait d’accord")
reads("French agreement", in_words(*FRENCH), said("agreement in French"))
SPANISH = ("Muy en desacuerdo", "En desacuerdo", "Neutral", "De acuerdo", "Muy de acuerdo")
reads("Spanish agreement", in_words(*SPANISH), said("agreement in Spanish"))
reads("Chinese agreement", in_words("非常不同意", "不同意", "一般", "同意", "非常同意"), said("agreement in Chinese"))
reads("Chinese satisfaction", in_words("很不满意", "不满意", "一般", "满意", "很满意"), said("satisfaction in Chinese"))
PLEASANT = ("very unpleasant", "unpleasant", "neutral", "pleasant", "very pleasant")
reads("pleasantness", in_words(*PLEASANT), said("pleasantness"))
reads(
    "Portuguese agreement",
    in_words("Discordo totalmente", "Discordo", "Neutro", "Concordo", "Concordo totalmente"),
    said("agreement in Portuguese"),
)
refuses(
    "words that nobody knows",
    "item,annotator,v\n1,x,naff\n1,y,meh\n2,x,nice\n2,y,nice\n",
    "If 'v' is one, say what its words mean:",
    Outcome((2, 2, 4), {"v": (1, 3)}),
)
reads(
    "true and false about the item",
    "item,annotator,practice,v\n"
    + "".join(
        f"i{m},a{k},{m % 2 == 0},{x}\n" for m, row in enumerate(drawn(3, (8, 4), 1, 5)) for k, x in enumerate(row)
    ),
    Outcome(FULL, {"v": (1, 5)}, left_out=frozenset({"practice"})),
)

# Wide tables
FACES = [f"Faces_{n:03d}_{sex}" for n in range(1, 5) for sex in "hs"]


def people(
    columns: Sequence[str], *before: Sequence[object], low: int = 1, high: int = 7, header: str = "participant"
) -> str:
    """One row for each of five people: what stands in `before`, and an answer for every column."""
    value = drawn(len(columns), (len(columns), 5), low, high).T
    names = [header, *(one[0] for one in before), *columns]
    rows = [[f"p{k}", *(one[1 + k % (len(one) - 1)] for one in before), *value[k]] for k in range(5)]
    return written([names, *rows])


GRID = Outcome((8, 5, 80), {"arousal": (1, 7), "valence": (1, 7)})
refuses(
    "marks inside the names of items",
    people([f"{face}_{dim}" for face in FACES for dim in ("arousal", "valence")]),
    "r.csv has no column that looks like the item",
    GRID,
)
for first, form in (("pid", "{item}.{dimension}"), ("Teilnehmer", "{dimension}_{item}")):
    refuses(
        f"people called {first} and items in columns",
        people(
            [form.format(item=f"img{n}", dimension=dim) for n in range(4) for dim in ("how_calm", "how_sad")],
            ("age", 20, 31, 25, 40, 22),
            ("sex", "m", "f"),
            header=first,
        ),
        f"If columns stand for items, say --annotator {first} --items-in-columns '{form}'.",
        Outcome((4, 5, 40), {"how_calm": (1, 7), "how_sad": (1, 7)}, left_out=frozenset({"age", "sex"})),
    )
refuses(
    "a column without a name that says what was rated",
    "item,annotator,,0\n"
    + "".join(
        f"i{m},a{k},{dim},{x}\n"
        for m, row in enumerate(drawn(3, (8, 4, 2), 1, 5))
        for k, two in enumerate(row)
        for dim, x in zip("va", two, strict=True)
    ),
    "If 'column 3' names what was rated, say --dimension 'column 3' --value 0.",
    Outcome((8, 4, 64), {"v": (1, 5), "a": (1, 5)}),
    Outcome((16, 4, 64), {"0": (1, 5)}),
)
reads(
    "a mark behind every row",
    long().replace("\n", ",\n"),
    Outcome(FULL, {"v": (1, 4)}, left_out=frozenset()),
)
refuses(
    "an age and a condition beside items",
    people(
        [f"{face}_{dim}" for face in FACES for dim in ("arousal", "valence")],
        ("age", 20, 31, 25, 40, 22),
        ("condition", 1, 2),
    ),
    "--items-in-columns '{item}_{dimension}'",
    Outcome((8, 5, 80), {"arousal": (1, 7), "valence": (1, 7)}, left_out=frozenset({"age", "condition"})),
)
refuses(
    "a duration among items",
    people(
        [f"{face}_{dim}" for face in FACES for dim in ("arousal", "valence")],
        ("Q_TotalDuration", 71.5, 60.1, 93.3, 40.2, 88.8),
    ),
    "--items-in-columns '{item}_{dimension}'",
    Outcome((8, 5, 80), {"arousal": (1, 7), "valence": (1, 7)}, left_out=frozenset({"Q_TotalDuration"})),
)
refuses(
    "a grid with a gap",
    people([f"{face}_{dim}" for face in FACES for dim in ("arousal", "valence")][:-1]),
    "--items-in-columns '{item}_{dimension}'",
    Outcome((8, 5, 75), {"arousal": (1, 7), "valence": (1, 7)}),
)
reads(
    "a form with its response, and a duration",
    people(
        [f"clip{n}_{dim}" for n in (1, 2, 3) for dim in ("joy", "fear")],
        ("Q_TotalDuration", 71, 60, 93, 40, 88),
        header="ResponseId",
    ),
    Outcome((3, 5, 30), {"joy": (1, 6), "fear": (2, 7)}, left_out=frozenset({"Q_TotalDuration"})),
)
GRID = [f"How much {what}? [clip {n}]" for what in ("joy", "fear") for n in (1, 2, 3)]
MOMENTS = [f"2024/03/0{k + 1} 10:0{k}:11 AM GMT+1" for k in range(5)]  # as Google Forms writes them
DEGREES = dict(zip(range(1, 6), ("Not at all", "Slightly", "Moderately", "Very", "Extremely"), strict=True))


def form(header: Sequence[str], who: Sequence[Sequence[str]], words: bool = False) -> str:
    answers = drawn(11, (len(who), 6), 1, 5).tolist()
    rows = [[*one, *([DEGREES[n] for n in own] if words else own)] for one, own in zip(who, answers, strict=True)]
    return written([[*header, *GRID], *rows])


refuses(
    "a form that knows nobody but the moment",
    form(["Timestamp"], [[moment] for moment in MOMENTS]),
    "--annotator Timestamp --items-in-columns '{dimension} [{item}]'",
    Outcome((3, 5, 30), {"How much joy?": (1, 5), "How much fear?": (1, 5)}),
)
refuses(
    "a form with addresses, answered in words",
    form(["Timestamp", "Email Address"], [[moment, f"p{k}@x.org"] for k, moment in enumerate(MOMENTS)], words=True),
    "--annotator 'Email Address' --items-in-columns '{dimension} [{item}]'",
    Outcome((3, 5, 30), {"How much joy?": (1, 5), "How much fear?": (1, 5)}, left_out=frozenset({"Timestamp"})),
)
refuses(
    "an age and a condition alone",
    written([["item", "age", "condition"], *([f"i{m}", 20 + m, m % 2] for m in range(6))]),
    "r.csv has no column that looks like the annotator",
)
LEVELS = [["v", "v", "v", "a", "a", "a"], ["A", "B", "C"] * 2]
CELLS = [[f"i{m}", *row] for m, row in enumerate(drawn(9, (6, 6), 1, 7))]
PIVOT = Outcome((6, 3, 36), {"v": (1, 7), "a": (1, 7)}, notes=("The header is rows 1 to 3, joined.",))
reads(
    "a pivot table of pandas",
    written([["dim", *LEVELS[0]], ["annotator", *LEVELS[1]], ["item", *[""] * 6], *CELLS]),
    PIVOT,
)
refuses(
    "a pivot table without names of its levels",
    written([["", *LEVELS[0]], ["", *LEVELS[1]], ["item", *[""] * 6], *CELLS]),
    "r.csv has no column that looks like the annotator",
    PIVOT,
)
GROUPS = [["item", "v", "", "", "a", "", ""], ["", *["A1", "A2", "A3"] * 2]]
TWO_ROWS = Outcome((6, 3, 36), {"v": (1, 7), "a": (1, 7)}, notes=("The header is rows 1 and 2, joined.",))
reads("groups above the names", written([*GROUPS, *CELLS]), TWO_ROWS)


def workbook(*rows: Sequence[object], merge: Sequence[str] = ()) -> bytes:
    """A sheet; cells that are merged hold what the first of them held."""
    import xlsxwriter

    whole = io.BytesIO()
    book = xlsxwriter.Workbook(whole, {"in_memory": True})
    page = book.add_worksheet()
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell not in ("", None):
                page.write(place, column, cell if isinstance(cell, str) else int(cell))
    for cells in merge:
        page.merge_range(cells, rows[int(cells[1]) - 1][ord(cells[0]) - 65])
    book.close()
    return whole.getvalue()


reads(
    "a pivot table in a workbook",
    workbook(
        ["dim", "v", "", "", "a", "", ""],
        ["annotator", *LEVELS[1]],
        ["item", *[""] * 6],
        *CELLS,
        merge=("B1:D1", "E1:G1"),
    ),
    PIVOT,
)
QUALTRICS = ["StartDate", "Status", "Progress", "Finished", "ResponseId", "LocationLatitude", "UserLanguage"]
QUESTIONS = [f"Q{q}_{n}" for q in (1, 2) for n in (1, 2, 3)]
refuses(
    "three rows of Qualtrics",
    written(
        [
            [*QUALTRICS, *QUESTIONS],
            [
                *(
                    "Start Date",
                    "Response Type",
                    "Progress",
                    "Finished",
                    "Response ID",
                    "Location Latitude",
                    "User Language",
                )
            ]
            + [f"{q} - Clip {n}" for q in ("Pleasant?", "Intense?") for n in "ABC"],
            [f'{{"ImportId":"{name}"}}' for name in [*QUALTRICS, *QUESTIONS]],
            *(["2024-05-01 10:00:00", "IP Address", 100, "True", f"R_{row[0]}", 52.5, "EN", *row[1:]] for row in CELLS),
        ]
    ),
    "r.csv has no column that looks like the item",
    Outcome(
        (3, 6, 36), {"Q1": (1, 7), "Q2": (1, 7)}, notes=("Rows 2 and 3 repeat the header in other words (Qualtrics).",)
    ),
)

# Comparisons and rankings
refuses(
    "left, right, winner",
    "left,right,winner,annotator\n" + "".join(f"i{m},j{m},i{m},a{k}\n" for m in range(6) for k in "xyz"),
    "compares or ranks items ('left', 'right' and 'winner')",
)
refuses(
    "chosen and rejected",
    "prompt,chosen,rejected,annotator\n" + "".join(f"p{m},yes {m},no {m},{k}\n" for m in range(6) for k in "xy"),
    "compares or ranks items ('chosen' and 'rejected')",
)
refuses(
    "an arena",
    "model_a,model_b,winner,judge\n" + "".join(f"m{m % 3},n{m % 2},model_a,{k}\n" for m in range(6) for k in "xy"),
    "compares or ranks items ('model_a', 'model_b' and 'winner')",
)
refuses(
    "ranks side by side",
    "annotator,rank1,rank2,rank3\n" + "".join(f"{k},p,q,r\n" for k in "xyz"),
    "compares or ranks items ('rank1', 'rank2' and 'rank3')",
)
refuses(
    "ranks",
    "item,annotator,rank\n" + "".join(f"i{m},{k},{(m * (k + 1)) % 7 + 1}\n" for m in range(7) for k in range(3)),
    "'rank' holds ranks",
    Outcome((7, 3, 21), {"rank": (1, 7)}),
)
