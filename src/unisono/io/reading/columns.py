"""Which column is which: by the user's word, else by the names people give such columns.

A name counts without case, blanks and punctuation: `Worker ID`, `worker_id` and `WorkerId` are one. A column whose name
says that it labels rows or keeps the books is never taken for a dimension without being asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unisono.data.reading import LeftOut
from unisono.io.reading import problems
from unisono.io.reading.descriptors import described_by_name, goes_with
from unisono.io.reading.table import Table

# In order of preference: where two columns fit, the one named first here is taken.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "item": (
        *(
            "item",
            "itemid",
            "itemname",
            "stimulus",
            "stimulusid",
            "stimuli",
            "stim",
            "stimid",
            "recording",
            "recordingid",
            "clip",
        ),
        *("clipid", "video", "videoid", "videoname", "image", "imageid", "audio", "audioid", "utterance"),
        *("utteranceid", "segment", "segmentid", "sentence", "sentenceid", "document", "documentid", "doc", "docid"),
        *("example", "exampleid", "sample", "sampleid", "task", "taskid", "file", "filename", "asset", "assetid"),
        *("movie", "movieid", "film", "filmid", "song", "songid", "photo", "photoid", "picture", "pictureid"),
        *("tweet", "tweetid", "post", "postid", "essay", "essayid", "article", "articleid", "paragraph"),
        *("paragraphid", "passage", "passageid", "dialogue", "dialogueid", "conversation", "conversationid"),
        *("product", "productid", "word", "wordid", "storyid", "soundid", "faceid", "sceneid", "trackid"),
        *("headline", "headlineid", "originalname", "origid", "hitid", "unit", "unitid", "textid", "id"),
    ),
    "annotator": (
        *("annotator", "annotatorid", "rater", "raterid", "worker", "workerid", "coder", "coderid", "judge"),
        *("judgeid", "observer", "observerid", "participant", "participantid", "subject", "subjectid", "user"),
        *("userid", "username", "assessor", "assessorid", "evaluator", "evaluatorid", "respondent", "respondentid"),
        *("labeler", "labelerid", "labeller", "expert", "expertid", "voter", "person", "personid", "prolificpid"),
        *("crowdworker", "completedby"),
    ),
    "time": (
        *("time", "timestamp", "timestamps", "times", "seconds", "second", "sec", "secs", "t", "frametime"),
        *("videotime", "timesec", "timeseconds", "timeins", "timeinseconds", "timems", "milliseconds", "ms"),
        *("minutes", "frame", "frameid", "frameindex", "framenumber"),
    ),
    "dimension": (
        *("dimension", "dimensions", "dim", "attribute", "aspect", "criterion", "criteria", "scale", "variable"),
        *("trait", "construct", "question", "measure"),
    ),
    "value": ("value", "rating", "score", "response", "answer", "label", "y"),
}
# The unit that a time column's name gives away.
UNIT_OF_NAME = {"timems": "ms", "milliseconds": "ms", "ms": "ms", "minutes": "min"} | dict.fromkeys(
    ("frame", "frameid", "frameindex", "framenumber"), "frames"
)
KIND = "kind"  # what an annotator is: human, judge, code
_BOOKKEEPING = {
    *("", "index", "row", "rowid", "unnamed0", "level0", "annotationid", "assignmentid", "session", "sessionid"),
    *("leadtime", "createdat", "updatedat", "submittime", "accepttime", "worktimeinseconds", "hittypeid", "responseid"),
}


class Roles(NamedTuple):
    """Positions of the columns that label rows; `named` holds those that the user named."""

    place: dict[str, int]
    named: frozenset[str]
    parts: frozenset[str] = frozenset()  # columns that a label was made of

    @property
    def is_long(self) -> bool:
        """One row per number: a column says which dimension it is."""
        return "dimension" in self.place


def plain_name(column: str) -> str:
    """A column's name as it counts: `Worker ID` is `workerid`."""
    return re.sub(r"[\W_]+", "", column.lower())


def find_column(table: Table, wanted: str) -> int:
    """The position of a column the user named; case matters only if it must."""
    if wanted in table.columns:
        return table.columns.index(wanted)
    alike = [i for i, column in enumerate(table.columns) if column.lower() == wanted.strip().lower()]
    if len(alike) != 1:
        raise problems.no_such_column(table.name, wanted, table.columns)
    return alike[0]


def find_roles(
    table: Table, needed: Sequence[str], optional: Sequence[str], given: Mapping[str, str | None], taken: Sequence[int]
) -> Roles:
    """The columns for each role; `given` are the user's words, `taken` columns that are in use as dimensions."""
    place = {role: find_column(table, name) for role, name in given.items() if name is not None}
    named = frozenset(place)
    for role in (*needed, *optional):
        if role not in place:
            found = detect(table, role, {*place.values(), *taken})
            if found is not None:
                place[role] = found
            elif role in needed:
                raise problems.no_role_column(table.name, role, table.columns)
    return Roles(place, named)


def find_kind(table: Table, roles: Roles) -> dict[str, int]:
    """The column that says what annotators are, by its name; whether it does, its cells decide."""
    if "annotator" not in roles.place:
        return {}
    used = set(roles.place.values())
    found = [i for i, column in enumerate(table.columns) if plain_name(column) == KIND and i not in used]
    return {KIND: found[0]} if found else {}


def find_long(table: Table, roles: Roles, dimension_name: str | None = None, value_name: str | None = None) -> Roles:
    """The same roles, with dimension and value if the table has one row per number, or if they are given."""
    used = set(roles.place.values())
    given = {"dimension": dimension_name, "value": value_name}
    place = {role: find_column(table, name) for role, name in given.items() if name is not None}
    for role in given:
        if role not in place:
            found = detect(table, role, used | set(place.values()))
            if found is not None:
                place[role] = found
            elif any(given.values()):
                raise problems.half_long(table.name, role, table.columns)
    if len(place) < 2:
        return roles
    dimension, value = place["dimension"], place["value"]
    return roles._replace(place=roles.place | {"dimension": dimension, "value": value})


def takes_no_dimension(column: str) -> bool:
    """Whether a column of this name is taken for a label, for bookkeeping, or for the name of the dimension."""
    plain = plain_name(column)
    return plain in _BOOKKEEPING | {KIND} or any(plain in SYNONYMS[role] for role in SYNONYMS if role != "value")


def candidates(table: Table, roles: Roles, *, companions: bool = False) -> tuple[list[int], list[LeftOut]]:
    """Columns that may hold numbers to use, and those that by their name do not.

    `companions` takes in what goes with another column: its error, the ends of its interval.
    """
    used = set(roles.place.values())
    kept, aside = [], []
    for index, column in enumerate(table.columns):
        if index in used or not column or column in roles.parts:
            continue
        why = _labels_rows(column) or (None if companions else goes_with(column, table.columns))
        if why is None and "annotator" in roles.place:  # durations, counts and years are good features of items
            why = described_by_name(column)
        if why is None:
            kept.append(index)
        else:
            aside.append(LeftOut(column, why, numeric=True))
    return kept, aside


def _labels_rows(column: str) -> str | None:
    """What a column labels by its name, if it was not needed for that."""
    plain = plain_name(column)
    for role in ("item", "annotator", "time"):
        if plain in SYNONYMS[role]:
            return f"by its name it is {'an' if role[0] in 'ai' else 'a'} {role}"
    return "by its name it keeps the books" if plain in _BOOKKEEPING else None


def detect(table: Table, role: str, used: set[int]) -> int | None:
    """The first column that by its name is what is looked for, and not used otherwise."""
    plain = [plain_name(column) for column in table.columns]
    tails = [plain_name(re.split(r"[.:]", column)[-1]) for column in table.columns]
    for names in (plain, tails):  # `ASSIGNMENT:worker_id` counts as `worker_id` when nothing fits as a whole
        for synonym in SYNONYMS[role]:
            for index, name in enumerate(names):
                if name == synonym and index not in used:
                    return index
    return None
