"""A museum of awkward tables: what people really have, a few lines each, with what must come out.

A piece either becomes ratings, with these dimensions (lowest, mean, highest number) and these columns left out, or it
is refused with exactly this message.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
from dataclasses import dataclass, field

import polars as pl
import xlsxwriter


@dataclass(frozen=True)
class Piece:
    """One table, what is said on the command line, and the outcome."""

    name: str
    content: bytes
    say: tuple[str, ...] = ()
    dims: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    counts: tuple[int, int, int] = (2, 2, 4)  # items, annotators, judgements
    left_out: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refusal: str | None = None


MUSEUM: list[Piece] = []
H = "item,annotator,v\n"
FOUR = "1,x,1\n1,y,2\n2,x,4\n2,y,3\n"
V = {"v": (1, 2.5, 4)}


def reads(name: str, content: str | bytes, *say: str, dims: dict | None = None, **more) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    MUSEUM.append(Piece(name, data, say, V if dims is None else dims, **more))


def refuses(name: str, content: str | bytes, refusal: str, *say: str) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    MUSEUM.append(Piece(name, data, say, refusal=refusal))


def sheet(*rows: list[object], title: str = "Sheet1", merge: tuple[str, ...] = ()) -> bytes:
    whole = io.BytesIO()
    book = xlsxwriter.Workbook(whole, {"in_memory": True})
    page = book.add_worksheet(title)
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell is not None:
                page.write(number, column, cell)
    for place in merge:
        first = place.split(":")[0]
        column, row = ord(first[0]) - 65, int(first[1:]) - 1
        page.merge_range(place, rows[row][column])
    book.close()
    return whole.getvalue()


def zipped(**members: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)
    return whole.getvalue()


def parquet(frame: pl.DataFrame) -> bytes:
    whole = io.BytesIO()
    frame.write_parquet(whole)
    return whole.getvalue()


# Text and its edges
reads("byte order mark", b"\xef\xbb\xbf" + (H + FOUR).encode())
reads("Windows line ends and blank lines", (H + "\n" + FOUR + "\n\n").replace("\n", "\r\n"))
reads("line ends of old Macs", (H + FOUR).replace("\n", "\r"))
reads("rows of empty cells at the end", H + FOUR + ",,\n,,\n")
reads("a comma at the end of every row", (H + FOUR).replace("\n", ",\n"))
reads("tabs", (H + FOUR).replace(",", "\t"))
reads("bars", (H + FOUR).replace(",", "|"))
reads("a separator announced for Excel", "sep=;\n" + (H + FOUR).replace(",", ";"))
reads("quoted cells with separators", 'item,annotator,v\n"a, b",x,1\n"a, b",y,2\n"say ""c""",x,4\n"say ""c""",y,3\n')
reads("blanks around everything", " item , annotator , v \n 1 , x , 1 \n1,y, 2\n2 ,x,4\n2, y ,3\n")
reads("names in capitals", "ITEM,Worker ID,V\n" + FOUR, dims={"V": (1, 2.5, 4)})
reads("Unicode names", "项目,annotator,v\n一,Žofie,1\n一,Ola,2\n二,Žofie,4\n二,Ola,3\n", "--item", "项目")
reads("leading zeros are part of a name", H + "007,x,1\n007,y,2\n7,x,4\n7,y,3\n")
reads("a name that looks like missing", H + "NA,null,1\nNA,y,2\n2,null,4\n2,y,3\n")
LATIN = "It is no UTF-8 text and was read as Windows-1252 (Latin-1). If letters look wrong, save it as UTF-8."
reads("Latin-1", (H + FOUR.replace("x", "Zoë")).encode("latin-1"), notes=(LATIN,))
reads("UTF-16", (H + FOUR).encode("utf-16"), notes=("It is UTF-16 text.",))
reads("UTF-16 without a mark", (H + FOUR).encode("utf-16-le"), notes=("It is UTF-16 text.",))
refuses("empty file", "", "r.csv is empty. Expected a header and one row per rating.")
refuses("header alone", H, "r.csv has a header but no rows.")
reads(
    "films",
    "Movie ID,reviewer_age,Rater,v\n7,30,x,1\n7,40,y,2\n9,30,x,4\n9,40,y,3\n",
    left_out={"reviewer_age": "by its name it is an age"},
)
refuses(
    "codes of what was rated",
    "couple,stage,partner,coder,v\n"
    + "".join(
        f"{c},{s},{p},{k},{1 + (3 * c + 2 * s + p + i) % 5}\n"
        for c in (7, 8)
        for s in (1, 2)
        for p in (1, 2)
        for i, k in enumerate("xy")
    ),
    "r.csv row 2 and row 4: annotator 'x' rated item '7' twice. If 'stage' and 'partner' are parts of the item, say "
    "--item couple,stage,partner.",
    *("--item", "couple"),
)
refuses(
    "one rating",
    H + "1,x,3\n",
    "r.csv: No item has ratings by two annotators, so they cannot be compared. "
    "Look whether the item and annotator columns are the right ones.",
)
refuses(
    "two columns of one name",
    "item,annotator,v,v\n1,x,1,2\n",
    "r.csv row 1: columns 3 and 4 are both called 'v'. Rename one of them.",
)
reads("a title above the header", "Ratings of May\n\n" + H + FOUR, notes=("The header is row 3.",))
refuses(
    "a comma too many in one row",
    H + FOUR + "3,x,3,\n",
    "r.csv row 6 has too many cells: 4 where the header has 3. Quote text that holds the separator, "
    "and look for an unmatched quotation mark.",
)
refuses("a lone quotation mark", H + FOUR + '3,"x,1\n', "r.csv row 6: a quotation mark is opened and never closed.")
refuses(
    "a PDF", b"%PDF-1.7\n", "r.csv is not a table that can be read: it is a PDF. Save it as CSV, XLSX, JSON or Parquet."
)
refuses(
    "a page of the web",
    "<!DOCTYPE html><html></html>",
    "r.csv is not a table that can be read: it is a web page. Save it as CSV, XLSX, JSON or Parquet.",
)

# Numbers and missing numbers
reads("semicolons and decimal commas", "item;annotator;v\n1;x;1,0\n1;y;2\n2;x;4\n2;y;3,0\n")
reads(
    "decimal commas among quoted cells",
    H + '1,x,"1,5"\n1,y,2\n2,x,"4,25"\n2,y,3.0\n',
    dims={"v": (1.5, 2.6875, 4.25)},
    notes=("Commas were read as decimal points in 'v'.",),
)
refuses(
    "a comma before three digits",
    H + '1,x,"1,500"\n1,y,2\n',
    "r.csv row 2: v is '1,500', which may be 1.500 or 1500. Write numbers without such commas.",
)
reads(
    "per cent",
    H + "1,x,10%\n1,y,20 %\n2,x,40%\n2,y,30%\n",
    dims={"v": (10, 25, 40)},
    notes=("Per cent signs were taken off in 'v'.",),
)
MEANS = (
    "Leave the cell empty if the rating is missing, or say what it means: "
    '--labels "{0}=" for missing, --labels "{0}=3" for a number.'
)
refuses("per cent here and there", H + "1,x,10%\n1,y,.2\n", "r.csv row 2: v is '10%'. " + MEANS.format("10%"))
reads("NA, NaN and null are missing", H + FOUR + "3,x,NA\n3,y,null\n4,x,nan\n", counts=(4, 2, 7))
refuses("n/a may be a typing error", H + "1,x,1\n1,y,n/a\n", "r.csv row 3: v is 'n/a'. " + MEANS.format("n/a"))
reads("n/a that was explained", H + FOUR + "3,x,n/a\n", "--labels", "n/a=", counts=(3, 2, 5))
refuses(
    "infinity",
    H + "1,x,1\n1,y,-inf\n",
    "r.csv row 3: v is '-inf', not a finite number. Leave the cell empty if it is missing.",
)
refuses("a time for a number", H + "1,x,1\n1,y,12:30\n", "r.csv row 3: v is '12:30'. " + MEANS.format("12:30"))
reads(
    "constant raters",
    H + "".join(f"{i},x,3\n{i},y,{i % 5}\n" for i in range(6)),
    dims={"v": (0, 2.3333333333333335, 4)},
    counts=(6, 2, 12),
)

# Words
CODED = "Words of {} were coded in 'v': {}; --labels codes them otherwise."
AGREE = "strongly disagree=1, disagree=2, neutral=3, agree=4, strongly agree=5"
reads(
    "words of agreement",
    H + "1,x,Agree\n1,y,Strongly Agree\n2,x,disagree\n2,y,Neutral\n",
    dims={"v": (2, 3.5, 5)},
    notes=(CODED.format("agreement", AGREE),),
)
reads(
    "true and false",
    H + "1,x,True\n1,y,False\n2,x,False\n2,y,False\n",
    dims={"v": (0, 0.25, 1)},
    notes=(CODED.format("true and false", "false=0, true=1"),),
)
reads(
    "numbers with names",
    H + "1,x,1 - not at all\n1,y,2\n2,x,4 - very much\n2,y,3\n",
    notes=("Cells such as '1 - not at all' count as their number in 'v'.",),
)
refuses("a word among numbers", H + "1,x,1\n1,y,good\n2,x,3\n", "r.csv row 3: v is 'good'. " + MEANS.format("good"))
refuses(
    "words without an order",
    H + "1,x,red\n1,y,blue\n2,x,red\n",
    "r.csv has no column that looks like a rating: 'v' (text). "
    "If 'v' is one, say what its words mean: --labels \"red=1, blue=2\".",
)
reads("words that were explained", H + "1,x,meh\n1,y,ok\n2,x,wow\n2,y,fine\n", "--labels", "meh=1, ok=2, fine=3, wow=4")
refuses(
    "a word that was forgotten",
    H + "1,x,meh\n1,y,ok\n2,x,wow\n",
    "r.csv row 4: v is 'wow'. " + MEANS.format("wow"),
    *("--labels", "meh=1, ok=2"),
)

# Shapes
SIDE = (
    "Columns 'rater1', 'rater2' were taken for 2 annotators, their cells for 'rating'; --dim NAME calls it otherwise."
)
GRID = "Columns 'joy_A1', 'fear_A1', 'joy_A2' and 1 more were taken for 2 annotators, their cells for 'joy' and 'fear'."
reads("annotators side by side", "item,rater1,rater2\n1,1,2\n2,4,3\n", dims={"rating": (1, 2.5, 4)}, notes=(SIDE,))
reads(
    "a column for each dimension and annotator",
    "clip,joy_A1,joy_A2,fear_A1,fear_A2\na,1,2,5,\nb,4,3,6,7\n",
    dims={"joy": (1, 2.5, 4), "fear": (5, 6, 7)},
    notes=(GRID,),
)
refuses(
    "people as columns",
    "item,anna,ben\n1,1,2\n2,4,3\n",
    "r.csv has no column that looks like the annotator; it has 'item', 'anna' and 'ben'. Say which one it is with "
    "--annotator COLUMN (annotator=... in Python). If columns stand for annotators, say "
    "--annotators-in-columns 'anna,ben'.",
)
reads("people as columns, named", "item,anna,ben\n1,1,2\n2,4,3\n", "--annotators-in-columns", "anna,ben", "--dim", "v")
reads(
    "items side by side",
    "participant,clip1,clip2\nx,1,4\ny,2,3\n",
    *("--dim", "v"),
    notes=("Columns 'clip1', 'clip2' were taken for 2 items, their cells for 'v'.",),
)
reads("one row per number", "item,annotator,dimension,value\n1,x,v,1\n1,y,v,2\n2,x,v,4\n2,y,v,3\n")
reads(
    "one row per number under odd names",
    "clip,who,facet,n\n1,x,v,1\n1,y,v,2\n2,x,v,4\n2,y,v,3\n",
    *("--annotator", "who", "--dimension", "facet", "--value", "n"),
)
reads("a name of two columns", "a,b,annotator,v\n1,1,x,1\n1,1,y,2\n1,2,x,4\n1,2,y,3\n", "--item", "a,b")
reads("a name of two columns with bars", "a,b,judge,v\np|q,r,x,1\np|q,r,y,2\np,q|r,x,4\np,q|r,y,3\n", "--item", "a,b")
reads("a copy of a row", H + FOUR + "1,y,2\n", notes=("1 row that repeats another one dropped.",))
refuses(
    "two answers",
    H + FOUR + "1,y,5\n",
    "r.csv row 3 and row 6: annotator 'y' rated item '1' twice. Say which one counts with --duplicates first, last or "
    "mean, or what else makes an item: --item item,COLUMN.",
)
reads(
    "two answers, the first counts",
    H + FOUR + "1,y,5\n",
    *("--duplicates", "first"),
    notes=("The first answer holds where somebody answered more than once (1).",),
)
reads(
    "columns that are no ratings",
    "item,annotator,age,v,note\n"
    + "".join(f"{m},{k},{30 + 5 * (k == 'x')},{(m + (k == 'x')) % 4},text {m}{k}\n" for m in range(4) for k in "xy"),
    dims={"v": (0, 1.5, 3)},
    counts=(4, 2, 8),
    left_out={"age": "by its name it is an age", "note": "text"},
)

refuses(
    "an item in two pieces",
    "system,prompt,judge,v\ng,1,x,1\ng,1,y,2\ng,2,x,4\ng,2,y,3\n",
    "r.csv has no column that looks like the item; it has 'system', 'prompt', 'judge' and 'v'. Say which one it is "
    "with --item COLUMN (item=... in Python), for example --item system,prompt. If columns stand for items, say "
    "--items-in-columns 'prompt,v'.",
)

LONG = "a,x,joy,1\na,x,fear,4\na,y,joy,2\na,y,fear,5\na,z,joy,1\na,z,fear,3\n"
LONG += "b,x,joy,6\nb,x,fear,2\nb,y,joy,5\nb,y,fear,1\nb,z,joy,4\nb,z,fear,2\n"
refuses(
    "one row per number, which nobody said",
    "video,rater,facet,points\n" + LONG,
    "r.csv row 2 and row 3: annotator 'x' rated item 'a' twice. If 'facet' names what was rated, say --dimension facet "
    "--value points. If 'facet' is part of the item, say --item video,facet.",
)
refuses(
    "one row per number, and nobody by name",
    "video,who,facet,points\n" + LONG,
    "r.csv has no column that looks like the annotator; it has 'video', 'who', 'facet' and 'points'. Say which one "
    "it is with --annotator COLUMN (annotator=... in Python), "
    "for example --annotator who --dimension facet --value points.",
)

# Other files
ROWS = [["item", "annotator", "v"], ["1", "x", 1], ["1", "y", 2], ["2", "x", 4], ["2", "y", 3]]
reads("a workbook", sheet(*ROWS))
reads("a workbook with a title", sheet(["Ratings of May"], [], *ROWS), notes=("The header is row 3.",))
reads(
    "a workbook with merged cells",
    sheet(["item", "joy", None, "fear", None], [None, "A1", "A2", "A1", "A2"], ["1", 1, 2, 5, 6], ["2", 4, 3, 7, 6],
          merge=("B1:C1", "D1:E1", "A1:A2")),
    dims={"joy": (1, 2.5, 4), "fear": (5, 6, 7)},
    notes=(
        "The header is rows 1 and 2, joined.",
        GRID,
    ),
)  # fmt: skip
RECORDS = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
reads("JSON records", json.dumps(RECORDS, indent=2))
reads("JSON columns", json.dumps({name: [record[name] for record in RECORDS] for name in ROWS[0]}))
reads("JSON lines", "\n".join(map(json.dumps, RECORDS)))
refuses(
    "JSON lines cut short",
    json.dumps(RECORDS[0]) + "\n" + json.dumps(RECORDS[1])[:-5],
    "r.csv line 2: this is not JSON (Unterminated string starting at). Is the file whole?",
)
refuses(
    "nested JSON",
    '[{"item": "a", "annotator": "x", "v": [1, 2]}]',
    "r.csv record 1: 'v' holds a list or an object, not a cell. `unisono import json` reads nested JSON: "
    "say where things are with --records, --item and --annotator.",
)
reads("Parquet", parquet(pl.DataFrame(RECORDS)))
reads("gzip", gzip.compress((H + FOUR).encode()))
reads("bzip2", bz2.compress((H + FOUR).encode()))
reads("a zip archive", zipped(r_csv=H + FOUR, README="hello"), notes=("The table is 'r.csv' in the archive.",))
refuses(
    "a zip archive of two tables",
    zipped(a_csv=H + FOUR, b_csv=H),
    "r.csv holds 2 files: 'a.csv' and 'b.csv'. Say --sheet 'a.csv'.",
)
refuses(
    "half a gzip",
    gzip.compress((H + FOUR).encode())[:30],
    "r.csv is not a table that can be read: its gzip data is damaged or cut short. Compress it again.",
)
reads(
    "a zip archive of two tables, one named",
    zipped(a_csv=H, b_csv=H + FOUR),
    *("--sheet", "b.csv"),
    notes=("The table is 'b.csv' in the archive.",),
)
reads("a sheet that was named", sheet(*ROWS, title="Main"), "--sheet", "Main")
refuses(
    "a sheet that there is not",
    sheet(*ROWS, title="Main"),
    "r.csv has no sheet 'Mian'; it has 'Main'. Did you mean --sheet 'Main'?",
    *("--sheet", "Mian"),
)
