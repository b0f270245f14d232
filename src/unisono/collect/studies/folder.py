"""A study's folder: the study file, the media, the database, and the secret that all links are made from.

study.toml     what the researcher writes
media/         what the researcher shows
lang.toml      sentences in other words, or in another language; optional
collect.db     SQLite, unless another database is named
secret.key     32 random bytes; whoever has them can make every link, so it is readable by its owner only
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from unisono.collect.languages.sentences import Sentences, sentences_of
from unisono.collect.studies.catalogue import Catalogue
from unisono.collect.studies.items import list_items
from unisono.collect.studies.load import load_study
from unisono.collect.studies.schema import Study
from unisono.errors import DataError
from unisono.tables.atomic_files import atomic_path

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
            raise DataError(
                f"{path}: not a secret of 64 hex digits. Delete it to make a new one; links sent out change."
            )
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
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
