"""A study's folder: the study file, the media, the database, and the secret that all links are made from.

study.toml     what the researcher writes
media/         what the researcher shows
lang.toml      sentences in other words, or in another language; optional
collect.db     SQLite, unless another database is named
secret.key     32 random bytes; whoever has them can make every link, so it is readable by its owner only

A study file is TOML; what is wrong with one is said with its place and the way out.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import msgspec

from unisono.collect.languages.sentences import Sentences, sentences_of
from unisono.collect.studies.catalogue import Catalogue
from unisono.collect.studies.checks import check_study
from unisono.collect.studies.items import list_items
from unisono.collect.studies.schema import Study
from unisono.errors import DataError
from unisono.tables import atomic_files, labels

_TOKEN_BYTES = 20
# Letters and digits that are not mistaken for one another when a code is read aloud or copied by hand.
_CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True)
class StudyFolder:
    """A study read and checked."""

    path: Path
    study: Study
    catalogue: Catalogue
    sentences: Sentences

    @property
    def database_url(self) -> str:
        """The SQLite file of this folder."""
        return f"sqlite:///{self.path.resolve() / 'collect.db'}"

    @property
    def patience_ms(self) -> int:
        """How long a rater keeps a place without an answer."""
        longest = max((one.seconds or 0.0 for one in (*self.catalogue.items, *self.catalogue.references)), default=0.0)
        return int(1000 * max(60 * self.study.design.free_after_minutes, 2 * longest))


def open_folder(path: Path, *, all_there: bool = True) -> StudyFolder:
    """Reads the study in `path`, with all its items; `all_there` as in `list_items`."""
    if not path.is_dir():
        raise DataError(f"{path}: there is no such folder. `unisono collect new {path}` makes one.")
    study = load_study(path / "study.toml")
    items = list_items(study, path, all_there=all_there)
    return StudyFolder(path, study, items, sentences_of(study.language, path))


class Keys:
    """Everything unguessable, derived from one secret: rater links, the admin token, completion codes.

    Derived, not stored: a copy of the database alone opens no link.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @classmethod
    def of(cls, folder: Path) -> Keys:
        """The keys of a folder; the first call makes the secret."""
        path = folder / "secret.key"
        if not path.exists():
            _write_once(path, secrets.token_hex(32))
        text = path.read_text(encoding="ascii", errors="replace").strip()
        try:
            secret = bytes.fromhex(text)
        except ValueError:
            secret = b""
        if len(secret) < 32:
            raise DataError(f"{path}: not a secret of 64 hex digits. Delete it to make a new one; links will change.")
        return cls(secret)

    @classmethod
    def found(cls, folder: Path) -> Keys | None:
        """The keys of a folder if it has any yet: for those who only look."""
        return cls.of(folder) if (folder / "secret.key").exists() else None

    def rater_token(self, name: str) -> str:
        """The token in a rater's link; it begins with the rater's public name."""
        return f"{name}.{self._sign(f'rater:{name}')}"

    def rater_name(self, token: str) -> str | None:
        """The rater whose token this is, or None for a forged one."""
        name, _, _ = token.partition(".")
        right = self.rater_token(name)
        return name if hmac.compare_digest(right.encode(), token.encode("utf-8", "replace")) else None

    def name_for(self, ticket: str) -> str:
        """The public name of whoever holds this ticket: the same ticket, the same rater."""
        return self._sign(f"ticket:{ticket}")[:12]

    @property
    def link_key(self) -> str:
        """What a platform signs identifiers with. It opens nothing else, so that it can be given away."""
        return self._sign("links")

    def signature(self, outside: str) -> str:
        """What stands beside an identifier in a signed link: HMAC-SHA256, in hex."""
        return hmac.digest(self.link_key.encode(), outside.encode("utf-8", "replace"), hashlib.sha256).hex()

    def is_signed(self, outside: str, signature: str) -> bool:
        """Whether the platform that has the key says so."""
        return hmac.compare_digest(self.signature(outside).encode(), signature.lower().encode("utf-8", "replace"))

    @property
    def admin_token(self) -> str:
        """What opens the researcher's page."""
        return self._sign("admin")

    @property
    def admin_cookie_name(self) -> str:
        """What the researcher's cookie is called: another name for every study."""
        return f"unisono_admin_{self._sign('admin cookie')[:8]}"

    def code(self, name: str) -> str:
        """The completion code of a rater."""
        digest = hmac.digest(self._secret, f"code:{name}".encode(), hashlib.sha256)
        return "".join(_CODE_LETTERS[byte % len(_CODE_LETTERS)] for byte in digest[:8])

    def _sign(self, text: str) -> str:
        return hmac.digest(self._secret, text.encode(), hashlib.sha256)[:_TOKEN_BYTES].hex()


def new_name() -> str:
    """A rater's public name: random, so that names say nothing of how many came before."""
    return secrets.token_hex(6)


def _write_once(path: Path, text: str) -> None:
    """Whole or not at all, and never over an existing secret: two servers that start together agree."""
    handle, name = tempfile.mkstemp(prefix=".secret.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(text + "\n")
    try:
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(name)


# name -> one line for --help
STARTERS = {
    "saturation-brightness-images": "colours of known saturation and brightness, rated one by one",
    "saturation-brightness-video": "colours that move, each dimension traced with a slider",
    "my-images": "your own images, several dimensions at once",
    "my-videos": "your own videos, traced while they play",
    "my-texts": "your own texts, several dimensions at once",
    "my-questions": "your own texts, with Likert scales, choices and free words, and a questionnaire",
    "my-pairs": "your own images, two at a time: which has more?",
}
_TEXTS = """item,text
letter-1,"I waited for you all afternoon, and then the rain came."
letter-2,"We got the flat! Come over tonight, bring everyone."
letter-3,"The meeting has been moved to Thursday at ten."
"""
_MEDIA = {"my-images": "images", "my-videos": "videos", "my-pairs": "images"}


def write_starter(folder: Path, name: str) -> list[Path]:
    """Writes a study to start from; refuses to touch a folder that already has one."""
    path = folder / "study.toml"
    if path.exists():
        raise DataError(f"{path}: there is a study here already. Name a new folder, or edit this file.")
    text = (resources.files(__package__) / "starters" / f"{name}.toml").read_text(encoding="utf-8")
    written = [_write(path, text)]
    if name in _MEDIA:
        (folder / "media").mkdir(exist_ok=True)
        note = f"Put your {_MEDIA[name]} into this folder; every file becomes an item, named after it.\n"
        written.append(_write(folder / "media" / "README", note))
    if name in ("my-texts", "my-questions"):
        written.append(_write(folder / "texts.csv", _TEXTS))
    return written


def _write(path: Path, text: str) -> Path:
    with atomic_files.atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


_PATH = re.compile(r" - at `\$(?P<path>.*)`$")
_UNKNOWN = re.compile(r"unknown field `(?P<name>.*)`")
_MISSING = re.compile(r"missing required field `(?P<name>.*)`")
_TYPE = re.compile(r"Expected `(?P<wanted>.*)`, got `(?P<got>.*)`")
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")

_WORDS = {"int": "a whole number", "float": "a number", "str": "text in quotes", "bool": "true or false"} | {
    "array": "a list in [ ]",
    "object": "a table",
    "int | float": "a number",
    "float | str": "a number or text in quotes",
}


def load_study(path: Path) -> Study:
    """The study that the file describes."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no study file here. `unisono collect new {path.parent}` writes one."
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: not valid TOML: {error}. Text goes in quotes, long text in three.") from None
    return parse_study(raw, path)


def parse_study(raw: dict[str, Any], path: Path) -> Study:
    """The study in an already parsed file; `path` is named in messages."""
    try:
        study = msgspec.convert(raw, Study)
    except msgspec.ValidationError as error:
        raise DataError(f"{path}: {_explain(str(error), raw)}") from None
    check_study(study, path)
    return study


def _explain(message: str, raw: dict[str, Any]) -> str:
    """msgspec's words in the words of the file: key, value, way out."""
    found = _PATH.search(message)
    keys = _keys(found["path"]) if found else []
    text = message[: found.start()] if found else message
    where = _spell(keys)
    inside = f"{where}." if where else ""
    if unknown := _UNKNOWN.search(text):
        hint = labels.meant_among(unknown["name"], _fields_at(keys), "keys here")
        return f"the key {inside}{unknown['name']} is not known. {hint}"
    if missing := _MISSING.search(text):
        return f"the key {inside}{missing['name']} is missing. Add it; docs/collect.md shows each key."
    value = _value_at(raw, keys)
    if wrong := _TYPE.search(text):
        wanted = _WORDS.get(wrong["wanted"], wrong["wanted"])
        return f"{where} is {value!r}, which is not {wanted}. Write {wanted} there."
    if "`float`" in text:
        value = float(value)
    return f"{where} is {repr(value)[:60]}. {_way_out(keys) or text + '.'}"


def _keys(path: str) -> list[str | int]:
    steps = _STEP.finditer(path)
    return [step["key"] or (int(step["index"]) if step["index"].isdigit() else "...") for step in steps]


def _spell(keys: list[str | int]) -> str:
    """`dimensions[2].min`, counted from 1 as people count."""
    text = ""
    for key in keys:
        number = f"[{key + 1}]" if isinstance(key, int) else ""
        text += number or (f".{key}" if text else str(key))
    return text


def _fields_at(keys: list[str | int]) -> list[str]:
    """Names of the keys that the table at this place may have."""
    kind: type[Any] = Study
    for key in keys:
        if isinstance(key, str) and (inner := _TABLES.get(key)):
            kind = inner
    return [item.name for item in msgspec.structs.fields(kind)]


def _way_out(keys: list[str | int]) -> str:
    """What the schema says of the key at this place: its words, or how to keep to its bounds."""
    for item in msgspec.structs.fields(_table_of(keys)):
        if keys and item.name == keys[-1]:
            words = [f"'{choice}'" for choice in get_args(item.type) if isinstance(choice, str)]
            described = [part.description for part in get_args(item.type) if isinstance(part, msgspec.Meta)]
            return f"Choose one of {', '.join(words)}." if words else "".join(filter(None, described))
    return ""


def _table_of(keys: list[str | int]) -> type[Any]:
    tables = [key for key in keys[:-1] if isinstance(key, str)]
    return _TABLES.get(tables[-1], Study) if tables else Study


def _value_at(raw: Any, keys: list[str | int]) -> Any:
    for key in keys:
        try:
            raw = raw[key]
        except (KeyError, IndexError, TypeError):
            return raw
    return raw


def _tables_in(kind: Any) -> Iterator[tuple[str, type[Any]]]:
    """Keys of a table that hold tables themselves, or lists of them, with what these may say; those inside too."""
    for item in msgspec.structs.fields(kind):
        for inner in _structs_in(item.type):
            yield item.name, inner
            yield from _tables_in(inner)


def _structs_in(kind: Any) -> Iterator[type[Any]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from _structs_in(part)


_TABLES = dict(_tables_in(Study))
