"""`unisono reproduce` and `unisono datasets` as a user meets them."""

import hashlib
import http.server
import io
import tarfile
import threading
import zipfile

import pytest
from click.testing import CliRunner

from unisono.cli.main import cli
from unisono.errors import DataError
from unisono.paper import experiment_runs
from unisono.paper.experiment_claims import Chapter, ClaimPart, Experiment, Lead, Unit, judge
from unisono.tables.datasets.fetched import EMOTIONS, Origin, affective_text_tables, cached, fetch

pytestmark = pytest.mark.slow


def invoke(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_an_unknown_experiment_is_answered_with_the_nearest_name(tmp_path):
    found = invoke("reproduce", "items-syntetic", "--out", tmp_path)
    assert found.exit_code == 2
    assert "Did you mean 'items-synthetic'?" in found.output


def test_data_must_be_for_an_experiment_and_be_there(tmp_path):
    assert "Say which experiment" in invoke("reproduce", "--out", tmp_path, "--data", tmp_path).output
    missing = invoke("reproduce", "series-real", "--out", tmp_path, "--data", tmp_path / "no")
    assert missing.exit_code == 2
    assert "There is no folder" in missing.output
    typo = invoke("reproduce", "--out", tmp_path, "--data", f"series-reel={tmp_path}")
    assert "Did you mean 'series-real'?" in typo.output


def test_a_folder_without_the_tables_is_told_what_is_missing(tmp_path):
    found = invoke("reproduce", "items-artificial", "--out", tmp_path / "out", "--data", tmp_path)
    assert isinstance(found.exception, DataError)
    assert "saturation/ratings.csv" in str(found.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_correlations_run_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNISONO_DATA", raising=False)
    found = invoke("reproduce", "correlations", "--quick", "--jobs", 1, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "cannot be tested" in found.output
    assert (tmp_path / "out" / "index.html").is_file()
    assert (tmp_path / "out" / "figures" / "correlations.pdf").is_file()


def size(n):
    return {"n": n}


def toy_chapter(settings, results):
    part = ClaimPart("CCC", ".5 against .488", False, Lead("joint", "independent", 0.012))
    return Chapter((), (), (), (judge("Joint is better.", "Sec. 1", "t-test", [part]),), {})


@pytest.mark.parametrize(
    ("words", "said"), [((), "does not hold"), (("--quick",), "too small to judge; joint ahead by .012")]
)
def test_a_quick_run_prints_the_direction_instead_of_a_verdict(tmp_path, monkeypatch, words, said):
    toy = Experiment("toy", "A toy", "Sec. 1", lambda given: [Unit("set0", size, {"n": 1 + given.quick})], toy_chapter)
    monkeypatch.setattr(experiment_runs, "find_experiments", lambda name: [toy])
    found = invoke("reproduce", "dependency", *words, "--jobs", 1, "--out", tmp_path)
    assert found.exit_code == 0, found.output
    assert f"{said}  Joint is better." in found.stdout


def archive(response="7"):
    """An archive of the origin's shape with two headlines and two workers."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as tar:
        for emotion in EMOTIONS:
            rows = ["!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold"]
            rows += [f"x\t{worker}\t{item}\t{response}\t3" for item in (502, 501) for worker in ("B9", "A1")]
            text = ("\n".join(rows) + "\n").encode()
            entry = tarfile.TarInfo(f"all/{emotion}.standardized.tsv")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as packed:
        packed.writestr("data/all_collected_data.tgz", inner.getvalue())
        packed.writestr("data/affect_emotion/affect.tsv", 'id\theadline\n501\tA "quoted", line\n502\tOther\n')
    return outer.getvalue()


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Serves `server.content` on this machine, and counts requests; the cache is a folder of its own."""
    monkeypatch.setenv("UNISONO_CACHE", str(tmp_path / "cache"))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found.requests += 1
            self.send_response(found.status)
            self.end_headers()
            self.wfile.write(found.content)

        def log_message(self, *arguments):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.requests, found.status, found.content = 0, 200, archive()
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def origin(server, sums=None):
    known = affective_text_tables(archive())
    right = {name: hashlib.sha256(content).hexdigest() for name, content in known.items()}
    return Origin(f"http://127.0.0.1:{server.server_port}/a.zip", affective_text_tables, sums or right, "a test")


def test_a_data_set_is_fetched_once_converted_and_kept(server):
    folder = fetch("affective-text", origin(server))
    assert (folder / "ratings.csv").read_text().splitlines()[:3] == [
        "item,annotator,anger,disgust,fear,joy,sadness,surprise,valence",
        "501,w00,7,7,7,7,7,7,7",
        "501,w01,7,7,7,7,7,7,7",
    ]
    assert (folder / "items.csv").read_text() == 'item,text\n501,"A ""quoted"", line"\n502,Other\n'
    assert fetch("affective-text", origin(server)) == folder
    assert server.requests == 1
    assert cached("affective-text") == folder


def test_other_numbers_are_refused_and_nothing_is_kept(server):
    right = origin(server)
    server.content = archive(response="8")
    with pytest.raises(DataError, match=r"ratings\.csv has the checksum"):
        fetch("affective-text", right)
    assert cached("affective-text") is None


@pytest.mark.parametrize("content", [b"<html>moved</html>", archive()[:-40], zipfile.ZipFile])
def test_what_is_no_such_archive_is_refused(server, content):
    if content is zipfile.ZipFile:
        empty = io.BytesIO()
        with zipfile.ZipFile(empty, "w") as packed:
            packed.writestr("readme", "nothing here")
        content = empty.getvalue()
    server.content = content
    with pytest.raises(DataError, match="not as expected"):
        fetch("affective-text", origin(server))
    assert cached("affective-text") is None


def test_a_server_that_fails_is_told_with_the_way_out(server):
    server.status = 404
    with pytest.raises(DataError, match=r"cannot be read .*point data at"):
        fetch("affective-text", origin(server))


def test_an_unknown_data_set_to_fetch_is_answered_with_the_nearest(server):
    with pytest.raises(DataError, match="Did you mean 'affective-text'"):
        fetch("affective-tekst")
