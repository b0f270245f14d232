"""The application of `unisono app`: the page, tables that come in, commands that run, files that go out.

Every address begins with the token of the link; whoever does not know it is told that there is nothing. The guard of
the collection tool stands before it: names of this machine alone, no requests on behalf of other sites. Tables are
kept in a folder that is gone with the program.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import json
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from unisono.cli.desk.choices import checked
from unisono.cli.desk.jobs import AT_ONCE, Job, look
from unisono.collect.app.guard import Guard, TooLargeError
from unisono.errors import DataError, SettingsError, in_shell
from unisono.tables.reading.collected_folder import COMPARISONS, RATINGS, STUDY, TRIALS, words_of_study

PAGE = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
# A report is one file with everything in it; it runs apart from the page, and asks nobody for anything.
OF_REPORT = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "frame-ancestors 'self'; sandbox allow-scripts allow-downloads allow-modals"
)
LARGEST = 4 * 2**30  # bytes of a table
VERBS = ("fuse", "compare")


class Desk:
    """What was dropped and what was done with it, until the program ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[str, Path] = {}
        self.jobs: dict[str, tuple[str, Job]] = {}
        self.room = asyncio.Semaphore(AT_ONCE)
        self.running: set[asyncio.Task[None]] = set()

    def new_folder(self) -> tuple[str, Path]:
        """A name that nobody guesses, and its folder."""
        name = secrets.token_hex(8)
        return name, self.folder / name

    def start(self, table: str, verb: str, choices: dict[str, Any]) -> str:
        """Begins a command."""
        name, folder = self.new_folder()
        job = Job(verb, self.tables[table], choices, folder)
        self.jobs[name] = table, job
        task = asyncio.create_task(job.run(self.tables[table], self.room))
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        return name

    async def close(self) -> None:
        """Ends what runs."""
        for _, job in self.jobs.values():
            job.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)


def build(folder: Path, token: str, hosts: frozenset[str], on_start: Callable[[], None]) -> Starlette:
    """The desk as an ASGI application; its addresses begin with the token."""
    desk = Desk(folder)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        on_start()
        yield
        await desk.close()

    routes = [
        Route("/", page),
        Route("/report.css", style_of_reports),
        Route("/tables", drop, methods=["POST"]),
        Route("/tables/{table}/look", see, methods=["POST"]),
        Route("/tables/{table}/{verb}", begin, methods=["POST"]),
        Route("/tables/{table}/jobs", jobs_of),
        Route("/jobs/{job}", job_told),
        Route("/jobs/{job}", cancel, methods=["DELETE"]),
        Route("/jobs/{job}/beside/{other}", compared),
        Route("/jobs/{job}/{file}", result_file),
        Mount("/static", StaticFiles(directory=PAGE)),
    ]
    inside = Starlette(routes=routes)
    inside.state.desk = desk
    return Starlette(
        routes=[Mount(f"/{token}", inside)],
        middleware=[Middleware(Guard, policy=POLICY, hosts=hosts, most_body=LARGEST)],
        exception_handlers={HTTPException: nothing, TooLargeError: too_large},
        lifespan=lifespan,
    )


async def nothing(request: Request, error: Exception) -> Response:
    """No such page, or no token: the same answer."""
    return PlainTextResponse("Nothing here.\n", getattr(error, "status_code", 404))


async def too_large(request: Request, error: Exception) -> Response:
    """More than anybody has of ratings."""
    return JSONResponse({"message": f"A table may have {LARGEST // 2**30} GB here; `unisono fuse` takes any."}, 413)


def _desk(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


def told_apart(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """What cannot be done is an answer with the message and its ways out."""

    async def guarded(request: Request) -> Response:
        from unisono.cli.desk.look import refusal

        try:
            return await handler(request)
        except (DataError, SettingsError) as error:
            return JSONResponse(refusal(in_shell(error)), 422)
        except (KeyError, ValueError):
            raise HTTPException(404) from None

    return guarded


async def page(request: Request) -> Response:
    """The page."""
    return FileResponse(PAGE / "desk.html")


async def style_of_reports(request: Request) -> Response:
    """Colours and letters, which the page shares with the report."""
    return FileResponse(str(files("unisono.report") / "templates" / "report.css"), media_type="text/css")


@told_apart
async def drop(request: Request) -> Response:
    """A file of a drop: the first makes a table, the others (`?table=`) lie beside it; `?sample=` brings one along."""
    desk, given = _desk(request), request.query_params
    name = given.get("table", "")
    folder = desk.tables[name].parent if name else None
    if folder is None:
        name, folder = desk.new_folder()
        folder.mkdir()
    if "sample" in given:
        from unisono.tables.datasets import dataset_path

        source = dataset_path(given["sample"])
        await asyncio.to_thread(shutil.copyfile, source, folder / source.name.replace("ratings", given["sample"]))
    else:
        await keep(folder, given.get("name", ""), request.stream())
    desk.tables[name], choices = await asyncio.to_thread(table_among, folder)
    return JSONResponse({"table": name, "choices": choices})


@told_apart
async def see(request: Request) -> Response:
    """How a table is understood, with these choices."""
    path = _desk(request).tables[request.path_params["table"]]
    return JSONResponse(await look(path, checked(await request.json())))


@told_apart
async def begin(request: Request) -> Response:
    """Starts a command on a table."""
    desk, given = _desk(request), request.path_params
    if given["verb"] not in VERBS or given["table"] not in desk.tables:
        raise HTTPException(404)
    return JSONResponse({"job": desk.start(given["table"], given["verb"], checked(await request.json()))})


async def jobs_of(request: Request) -> Response:
    """What was done with a table, so that a page that is loaded again shows it."""
    jobs = _desk(request).jobs.items()
    return JSONResponse([name for name, (table, _) in jobs if table == request.path_params["table"]])


@told_apart
async def job_told(request: Request) -> Response:
    """How far a command is."""
    return JSONResponse(_desk(request).jobs[request.path_params["job"]][1].told())


@told_apart
async def cancel(request: Request) -> Response:
    """Ends a command."""
    job = _desk(request).jobs[request.path_params["job"]][1]
    job.cancel()
    return JSONResponse(job.told())


@told_apart
async def compared(request: Request) -> Response:
    """What one result says otherwise than another."""
    one, other = (_desk(request).jobs[request.path_params[name]][1] for name in ("job", "other"))
    return JSONResponse(await asyncio.to_thread(difference, other.result, one.result))


@told_apart
async def result_file(request: Request) -> Response:
    """A file of a result, or what is made of it."""
    job = _desk(request).jobs[request.path_params["job"]][1]
    name = request.path_params["file"]
    if name == "command.txt":
        return PlainTextResponse(f"{job.told()['command']}\n")
    if name == "methods.txt" and (job.result / "report.json").is_file():
        from unisono.report.report_methods import methods_paragraph

        data = json.loads((job.result / "report.json").read_text(encoding="utf-8"))
        return PlainTextResponse(methods_paragraph(data) + "\n")
    path = job.folder / name if name == "compare.json" else job.result / name
    if job.state != "done" or not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, headers={"content-security-policy": OF_REPORT} if path.suffix == ".html" else None)


MOVED = 5  # items that are named


def difference(before: Path, after: Path) -> dict[str, Any]:
    """By dimension: correlation of the estimates, how far they moved, and the items that moved most."""
    if not all((folder / "truth.csv").is_file() for folder in (before, after)):
        raise DataError("One of these has no truth to compare.")
    first, second = (pl.read_csv(folder / "truth.csv", infer_schema_length=None) for folder in (before, after))
    keys = [name for name in ("recording", "time", "item") if name in first.columns and name in second.columns]
    first, second = (one.with_columns(pl.col(key).cast(pl.String) for key in keys) for one in (first, second))
    names = [name for name in first.columns if f"{name}_sd" in first.columns and f"{name}_sd" in second.columns]
    both = first.join(second, on=keys, how="inner", suffix=" after")
    if not names or not len(both):
        raise DataError("These results have no estimates in common.")
    reliability = _reliability(before), _reliability(after)
    return {"items": len(both), "dimensions": [_moved(both, keys, name, *reliability) for name in names]}


def _moved(
    both: pl.DataFrame, keys: Sequence[str], name: str, before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    now = pl.col(f"{name} after")
    moved = both.with_columns((now - pl.col(name)).alias("moved")).filter(pl.col("moved").is_finite())
    figures = moved.select(
        pl.corr(name, f"{name} after").alias("correlation"),
        pl.col("moved").abs().mean().alias("mean"),
        pl.col("moved").abs().max().alias("most"),
        (now.is_between(pl.col(f"{name}_low"), pl.col(f"{name}_high"))).mean().alias("inside"),
    ).row(0, named=True)
    far = moved.sort(pl.col("moved").abs(), descending=True).head(MOVED)
    rows = [{"item": ", ".join(row[key] for key in keys), "moved": row["moved"]} for row in far.to_dicts()]
    return {"name": name, "before": before.get(name), "after": after.get(name), "items": rows} | figures


def _reliability(folder: Path) -> dict[str, Any]:
    """The agreement of annotators with the truth fused from the others, by dimension."""
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8")).get("agreement")
    return found if isinstance(found, dict) else {}


OF_STUDY = (RATINGS, COMPARISONS, TRIALS, STUDY)


@contextlib.contextmanager
def own_folder(port: int) -> Iterator[Path]:
    """A folder for everything, removed at the end. Who has the port owns it: what a killed desk left is removed."""
    place = Path(tempfile.gettempdir()) / f"unisono-app-{getpass.getuser()}-{port}"
    shutil.rmtree(place, ignore_errors=True)
    try:
        place.mkdir(mode=0o700)
    except OSError:
        raise DataError(f"{place} is in the way. Remove it, or choose another --port.") from None
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def safe_name(name: str) -> str:
    """The name of a file without folders, and never one that a command could take for an option."""
    plain = name.replace("\\", "/").rpartition("/")[2]
    return "".join(sign for sign in plain if sign.isprintable()).lstrip("-.~")[:120].strip() or "table"


async def keep(folder: Path, name: str, content: AsyncIterator[bytes]) -> Path:
    """Writes what comes in, piece by piece."""
    path = folder / safe_name(name)
    with path.open("wb") as file:
        async for piece in content:
            file.write(piece)
    return path


def table_among(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The table to fuse among the files of one drop, and what it is known to be: of an export, what its study says."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if len(files) == 1 and zipfile.is_zipfile(files[0]) and _unpack_export(files[0], folder):
        files = sorted(folder / name for name in OF_STUDY if (folder / name).is_file())
    names = {path.name: path for path in files}
    if RATINGS in names:
        return names[RATINGS], _said_by_study(folder)
    if COMPARISONS in names:
        return names[COMPARISONS], {"comparisons": True}
    if not files:
        raise DataError("Nothing came in.")
    return max(files, key=lambda path: path.stat().st_size), {}


def _unpack_export(archive: Path, folder: Path) -> bool:
    """Takes the tables of an export out of its archive; False where it is none."""
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(archive) as packed:
        found = {Path(name).name: name for name in packed.namelist() if Path(name).name in OF_STUDY}
        if RATINGS not in found and COMPARISONS not in found:
            return False
        for plain, name in found.items():
            with packed.open(name) as source, (folder / plain).open("wb") as target:
                shutil.copyfileobj(source, target)
        return True
    return False


def _said_by_study(folder: Path) -> dict[str, Any]:
    words = words_of_study(folder)
    found = {name: words[name] for name in ("dims", "categories") if words.get(name)}
    if words.get("scale"):
        found["scale"] = dict(text.split("=", 1) for text in words["scale"])
    return found | ({"rate": f"{words['rate']:g}"} if "rate" in words else {})
