"""Studies to fetch: a table like the origin's becomes ratings in our format, over HTTP, or nothing is kept."""

import hashlib
import http.server
import threading

import pytest

import unisono as un
from unisono.errors import DataError
from unisono.tables.datasets.fetched import ORIGINS, Origin, cached, fetch

RECIPES = (
    "filename\tlistnumber\tparticipant\tgrammar\tfluency\tverbosity\tstructure\tsuccess\toverall\trecipeid\tdish\t"
    "condition\torder\texperience\ttime.s\ttim.min\n"
    "list_1.csv\t1\tparticipant_10\t3\t2\t5\t5\t5\t2\tziti\tBaked Ziti\tcoref\t6\tdaily\t1604\t26.7\n"
    "list_1.csv\t1\tparticipant_2\t2\t1\t1\t3\t3\t2\tziti\tBaked Ziti\tcontext\t1\tnever\t607\t10.1\n"
)
SENTENCES = (
    "original,simplification,original_sentence_id,aspect,worker_id,rating\n"
    '"A, b","A. B",12,meaning,7,55\n"A, b","A. B",12,fluency,7,27\n"A, b","A. B",12,simplicity,7,8\n'
    '"C","C",3,meaning,10,100\n"C","C",3,fluency,10,99\n"C","C",3,simplicity,10,0\n'
)
STUDIES = {
    "recipes": (RECIPES, "item,annotator,grammar,fluency,verbosity,structure,success,overall\n"
                "ziti|context,w002,2,1,1,3,3,2\nziti|coref,w010,3,2,5,5,5,2\n"),
    "simplifications": (SENTENCES, "item,annotator,fluency,meaning,simplicity\n"
                        "3,10,99.0,100.0,0.0\n12,7,27.0,55.0,8.0\n"),
}  # fmt: skip


@pytest.fixture
def served():
    """Serves whatever is put into the list, last first."""
    content: list[bytes] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content[-1])

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", content
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", STUDIES)
def test_a_table_like_the_origins_becomes_ratings(name, served, tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_CACHE", str(tmp_path))
    raw, expected = STUDIES[name]
    url, content = served
    content.append(raw.encode())
    sums = {"ratings.csv": hashlib.sha256(expected.encode()).hexdigest()}
    folder = fetch(name, Origin(url, ORIGINS[name].convert, sums, ORIGINS[name].about))
    assert (folder / "ratings.csv").read_text() == expected
    assert un.read_ratings(folder / "ratings.csv").J == 2
    assert cached(name) == folder


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_not_the_study_is_not_kept(name, served, tmp_path, monkeypatch):
    monkeypatch.setenv("UNISONO_CACHE", str(tmp_path))
    raw = STUDIES[name][0]
    url, content = served
    origin = ORIGINS[name]._replace(url=url)
    wrong_rows = {"recipes": raw.replace("participant_2", "somebody"), "simplifications": raw.replace(",55", ",many")}
    for sent in (b"<html>not here</html>", "\xe9".encode("latin-1"), wrong_rows[name].encode(), raw.encode()):
        content.append(sent)
        with pytest.raises(DataError, match="Nothing was kept"):
            fetch(name, origin)
        assert cached(name) is None
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ORIGINS)
def test_every_origin_names_its_terms(name):
    about = ORIGINS[name].about
    assert any(word in about for word in ("cite", "name it"))
    assert ORIGINS[name].url.startswith("https://raw.githubusercontent.com/")
