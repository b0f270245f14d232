"""What a study file may say: one class per table of the TOML file, one field per key, every default in sight.

Types, shapes and bounds live here, each bound with the way out that a message names; `checks` finds contradictions
between keys, `items` finds what is to be rated.
"""

from __future__ import annotations

import hashlib
from math import inf
from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.json import encode

_LONGEST = 20_000
_YEAR = 365 * 24 * 60.0
NoLimit = Annotated[int, Meta(ge=0, description="Use 0 for no limit, or a number above it.")]
FromOne = Annotated[int, Meta(ge=1, description="It must be at least 1.")]
Above = Meta(gt=0, le=1e9, description="It must be a number above 0.")
AfterItems = Annotated[int, Meta(ge=1, description="It must be 1 or more: it comes after so many items.")]
Name = Annotated[
    str,
    Meta(
        pattern=r"^[^\W\d][\w -]{0,39}\Z", description="Start with a letter; use letters, digits, '_', '-', at most 40."
    ),
]
Prose = Annotated[str, Meta(max_length=_LONGEST, description=f"Shorten it to {_LONGEST} characters.")]
Code = Annotated[str, Meta(pattern=r"^[\w-]{0,40}\Z", description="Use letters, digits, '_' and '-', at most 40.")]


class Anchor(Struct, frozen=True, forbid_unknown_fields=True):
    """A labelled point of a scale."""

    at: float
    label: str


# What an answer is: a number of a slider or of a Likert scale, or words.
Value = float | str


class Dimension(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that raters are asked about an item, and how they answer."""

    name: Name
    question: str
    kind: Literal["slider", "likert", "choice", "text"] = "slider"
    # slider: labels spread evenly from min to max, or labels at stated points
    anchors: list[str | Anchor] = field(default_factory=list)
    # likert: a label for each of the numbers 1, 2, ..., or "" for the number alone; choice: the words to choose from
    choices: list[str] = field(default_factory=list)
    # text: whether it may not be left empty
    required: bool = False
    # three items or more at a time: which one has least of it
    least: str = ""
    min: float = 0.0
    max: float = 100.0
    step: float = 1.0
    # Where the untouched handle stands. It is stored with the rating, so that anchoring can be seen afterwards.
    start: Literal["middle", "random"] = "random"

    @property
    def is_number(self) -> bool:
        """Whether answers are numbers on a scale."""
        return self.kind in ("slider", "likert")

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest answer of a scale."""
        return (1.0, float(len(self.choices))) if self.kind == "likert" else (self.min, self.max)

    @property
    def points(self) -> list[Anchor]:
        """The anchors with their places on the scale."""
        last = max(len(self.anchors) - 1, 1)
        width = self.max - self.min
        return [
            Anchor(self.min + width * index / last, anchor) if isinstance(anchor, str) else anchor
            for index, anchor in enumerate(self.anchors)
        ]


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that raters are asked about themselves, before the first item or after the last."""

    name: Name
    question: Annotated[str, Meta(pattern=r"\S", description="Write what raters are asked.")]
    kind: Literal["number", "likert", "choice", "text"]
    when: Literal["before", "after"] = "before"
    # likert and choice: as for dimensions
    choices: list[str] = field(default_factory=list)
    required: bool = True
    # number: both, or neither for any number
    min: float | None = None
    max: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest number to answer."""
        if self.kind == "likert":
            return (1.0, float(len(self.choices)))
        return (-inf if self.min is None else self.min, inf if self.max is None else self.max)


class Pad(Struct, frozen=True, forbid_unknown_fields=True):
    """Two dimensions judged with one point on a plane."""

    x: str
    y: str
    # large: beside what is judged, in half of a wide window
    size: Literal["normal", "large"] = "normal"


class Texts(Struct, frozen=True, forbid_unknown_fields=True):
    """What raters read. Plain text: an empty line starts a paragraph, lines that start with `- ` make a list."""

    instructions: Annotated[str, Meta(pattern=r"\S", max_length=_LONGEST, description="Tell raters what to do.")]
    welcome: Prose = ""
    consent: Prose = ""
    # Empty: thanks in the language of the study.
    thanks: Prose = ""
    contact: Prose = ""


Media = Literal["image", "video", "audio", "text"]


class Items(Struct, frozen=True, forbid_unknown_fields=True):
    """What is rated: colours made here, moving colours made here, or the researcher's own files or texts."""

    source: Literal["colours", "walks", "files", "table"]
    # files
    folder: str = "media"
    media: Media = "image"
    # table: a CSV file with the columns `item` and `text`
    table: str = "texts.csv"
    # files and table: a CSV file `item,<dimensions>` where the truth of some items is known
    truth: str = ""
    # colours: images per regime, and the value of the dimension that does not vary
    regimes: list[Literal["saturation", "brightness"]] = field(default_factory=lambda: ["saturation", "brightness"])
    per_regime: FromOne = 50
    fixed: Annotated[float, Meta(ge=0, le=100, description="Saturation and brightness go from 0 to 100.")] = 60.0
    # walks: how many, how long, seconds that a value is held, seconds of a transition
    count: FromOne = 6
    seconds: Annotated[float, Meta(ge=1, le=3600, description="Make it a second at least, an hour at most.")] = 60.0
    hold: tuple[float, float] = (2.0, 4.0)
    move: tuple[float, float] = (1.0, 2.0)


class Design(Struct, frozen=True, forbid_unknown_fields=True):
    """How items meet raters."""

    # 0: as many as come
    ratings_per_item: NoLimit = 0
    # 0: all of them
    items_per_rater: NoLimit = 0
    order: Literal["random", "listed"] = "random"
    break_every: NoLimit = 0
    # A rater who has answered nothing for so long has left: the items go to others until the rater comes back. It is
    # never shorter than twice the longest recording.
    free_after_minutes: Annotated[float, Meta(gt=0, le=_YEAR, description="Choose minutes, a year at most.")] = 10.0
    # Whether answers stay as they are once the rater has finished.
    final: bool = False
    # Whether images can be enlarged.
    zoom: bool = True
    # How much of a sound or a film has to have been played before it can be rated.
    play_share: Annotated[float, Meta(ge=0, le=1, description="Choose a share from 0 to 1 (all of it).")] = 0.9


class Reference(Struct, frozen=True, forbid_unknown_fields=True):
    """Hidden reference items: shown again and again among the others, looking like any of them."""

    every: AfterItems = 10
    # files and table: names of items; colours: fixed values, shown in green and in blue
    items: list[str] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """An attention check: a page that says what to answer."""

    after: AfterItems
    text: str
    expected: Annotated[dict[str, Value], Meta(min_length=1, description="Say which value each dimension should get.")]
    tolerance: Annotated[float, Meta(ge=0, description="It must be 0 or more.")] = 10.0
    # What the check is called in the log. Without one, text and expected values name it: place and order never do.
    id: str = ""

    @property
    def key(self) -> str:
        """The name that stays while other checks come and go."""
        content = encode([self.text, sorted(self.expected.items())])
        return self.id or f"check-{hashlib.sha256(content).hexdigest()[:8]}"


class Practice(Struct, frozen=True, forbid_unknown_fields=True):
    """Items to get used to the page with. Their ratings are logged as practice and never exported as ratings."""

    # colours and walks: how many to make
    count: Annotated[int, Meta(ge=0, description="Use 0 for no practice, or a number above it.")] = 0
    # files and table: names of items that serve as practice only
    items: list[str] = field(default_factory=list)
    # Show the true values after each practice item, where they are known.
    feedback: bool = True
    # Begin with a page to play with saturation and brightness.
    play: bool = False


class TraceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How values are traced over time."""

    # Samples per second of media time, both as recorded and as exported.
    rate: Annotated[float, Meta(ge=1, le=60, description="Choose 1 to 60 samples per second; 25 is usual.")] = 25.0
    countdown: Annotated[int, Meta(ge=0, le=10, description="Choose 0 to 10 seconds.")] = 3


PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")  # in the name of a set
LETTERS = ("A", "B", "C", "D", "E", "F")
LEAST = " least"  # ends the name of the question which item has least of it


class Compare(Struct, frozen=True, forbid_unknown_fields=True):
    """How items are compared."""

    # How many are seen at a time. 2: which has more; 3 to 6: which has most and which least
    together: Annotated[int, Meta(ge=2, le=len(LETTERS), description=f"Show 2 to {len(LETTERS)} items at a time.")] = 2
    # How many others each item meets. 0: all of them
    partners: NoLimit = 0
    # Whether raters may say that there is no difference between two.
    tie: bool = True
    # Which of them a rater gets: the least answered, or those whose answers tell most about the items.
    chosen: Literal["evenly", "next"] = "evenly"


class Raters(Struct, frozen=True, forbid_unknown_fields=True):
    """Where raters come from, and how they show that they are done."""

    source: Literal["open", "invited", "signed", "prolific", "mturk"] = "open"
    # A question for a code or name, asked beside the consent. Empty: not asked.
    ask_code: str = ""
    ask_comment: bool = True
    # One code for all, as Prolific wants it. Empty: every rater gets a code of their own.
    completion_code: Code = ""
    # One code for those for whom there is no place. Empty: they get none.
    full_code: Code = ""
    # Where the button on the last page leads; {code} and {id} are replaced.
    return_url: str = ""


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """What one sender may do; generous for people, tight for programs."""

    requests_per_second: Annotated[float, Above] = 10.0
    joins_per_minute: Annotated[float, Above] = 120.0
    raters: FromOne = 100_000
    events_per_rater: FromOne = 200_000


class Study(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole study file."""

    title: Annotated[str, Meta(pattern=r"\S", description="Give the study a title; raters see it.")]
    mode: Literal["rate", "trace", "compare"]
    texts: Texts
    dimensions: Annotated[list[Dimension], Meta(min_length=1, description="Add at least one [[dimensions]] table.")]
    items: Items
    format: Literal[1] = 1
    language: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z", description="Write a language code, 'en' or 'pt-BR'."),
    ] = "en"
    seed: int = 1
    pads: list[Pad] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    design: Design = field(default_factory=Design)
    reference: Reference | None = None
    checks: list[Check] = field(default_factory=list)
    practice: Practice = field(default_factory=Practice)
    trace: TraceSettings = field(default_factory=TraceSettings)
    compare: Compare = field(default_factory=Compare)
    raters: Raters = field(default_factory=Raters)
    limits: Limits = field(default_factory=Limits)

    @property
    def names(self) -> list[str]:
        """Names of the dimensions, in the order of the file."""
        return [dimension.name for dimension in self.dimensions]

    @property
    def rated(self) -> list[str]:
        """Names of the dimensions that are ratings: numbers and choices, not free text."""
        return [dimension.name for dimension in self.dimensions if dimension.kind != "text"]

    @property
    def asked(self) -> list[Dimension]:
        """The dimensions as raters answer them: in comparisons, the side that has more, or most and least."""
        if self.mode != "compare":
            return self.dimensions
        if self.compare.together > 2:
            return [each for one in self.dimensions for each in self._most_and_least(one)]
        sides = ["left", "tie", "right"] if self.compare.tie else ["left", "right"]
        both = [(one, Dimension(one.name, one.question, "choice", choices=sides)) for one in self.dimensions]
        return [one if one.kind == "text" else compared for one, compared in both]

    def _most_and_least(self, one: Dimension) -> list[Dimension]:
        if one.kind == "text":
            return [one]
        letters = list(LETTERS[: self.compare.together])
        asked = ((one.name, one.question), (one.name + LEAST, one.least))
        return [Dimension(name, question, "choice", choices=letters) for name, question in asked]

    @property
    def answered(self) -> list[str]:
        """Names of what raters answer, free text aside."""
        return [one.name for one in self.asked if one.kind != "text"]

    def find_check(self, key: str) -> Check | None:
        """The attention check of this key, if the study (still) has it."""
        return next((check for check in self.checks if check.key == key), None)

    @property
    def passes(self) -> list[list[str]]:
        """The dimensions judged together: all at once for ratings; one by one, or a pad's two, for traces."""
        if self.mode != "trace":
            return [self.names]
        joint = {name: [pad.x, pad.y] for pad in self.pads for name in (pad.x, pad.y)}
        groups = [joint.get(name, [name]) for name in self.names]
        return [group for index, group in enumerate(groups) if group not in groups[:index]]
