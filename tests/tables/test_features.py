"""Features of media that the tests make themselves, through the command line, as far as into a fit."""

import wave

import cv2
import numpy as np
import polars as pl
import pytest

from command_line import unisono_here


def write_image(path, bgr, size=(40, 30)):
    path.write_bytes(cv2.imencode(".png", np.full((*size, 3), bgr, dtype=np.uint8))[1].tobytes())


def write_film(path, frames, rate=10):
    height, width = frames[0].shape[:2]
    film = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), rate, (width, height))
    for frame in frames:
        film.write(frame)
    film.release()


def write_sound(path, signal, rate=16000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(signal, -1, 1) * 32000).astype("<i2").tobytes())


def test_images_have_the_colours_they_were_painted_in(tmp_path):
    write_image(tmp_path / "röd.png", (0, 0, 255))
    write_image(tmp_path / "grey.png", (128, 128, 128))
    done = unisono_here("features", "image", tmp_path / "röd.png", tmp_path / "grey.png", "-o", tmp_path / "f.csv")
    assert done.returncode == 0, done.stderr
    red, grey = pl.read_csv(tmp_path / "f.csv").to_dicts()
    assert (red["item"], grey["item"]) == ("röd", "grey")
    assert (red["red"], red["green"], red["blue"]) == (1, 0, 0)
    assert red["luminance"] == pytest.approx(0.2126)
    assert red["hue_1"] == red["saturation_8"] == red["value_8"] == 1
    assert grey["intensity"] == pytest.approx(128 / 255, rel=1e-5)
    assert grey["saturation_1"] == 1


def test_films_are_measured_on_a_clock_and_motion_is_seen(tmp_path):
    rng = np.random.default_rng(0)
    scene = cv2.resize(rng.integers(0, 255, size=(30, 40, 3), dtype=np.uint8), (160, 120))
    write_film(tmp_path / "still.avi", [scene] * 40)
    write_film(tmp_path / "moving.avi", [np.roll(scene, 2 * t, axis=1) for t in range(40)])
    films = (tmp_path / "still.avi", tmp_path / "moving.avi")
    done = unisono_here("features", "video", *films, "-o", tmp_path / "f.csv", "--rate", 5, "--window", 1)
    assert done.returncode == 0, done.stderr
    table = pl.read_csv(tmp_path / "f.csv")
    still, moving = (table.filter(pl.col("recording") == name) for name in ("still", "moving"))
    assert still["time"].to_list() == pytest.approx(np.arange(20) / 5)
    assert moving["flow"][-1] > 10 * max(still["flow"][-1], 1e-6)
    assert moving["flow"][-1] == pytest.approx(2 * 10 / 160, rel=0.5)  # two pixels a frame, ten frames a second


def test_loud_sounds_are_louder(tmp_path):
    t = np.arange(16000 * 4) / 16000
    write_sound(tmp_path / "swell.wav", np.sin(2 * np.pi * 220 * t) * np.where(t < 2, 0.02, 0.6))
    done = unisono_here("features", "audio", tmp_path / "swell.wav", "-o", tmp_path / "f.csv", "--window", 1)
    assert done.returncode == 0, done.stderr
    table = pl.read_csv(tmp_path / "f.csv")
    assert len(table.columns) == 2 + 26 * 8
    loudness = table["pcm_loudness_sma_mean"]
    assert loudness[14] > 3 * loudness[5]
    assert table["pcm_loudness_sma_range"][9] > table["pcm_loudness_sma_range"][14]  # across the step, and after it


def test_texts_from_a_table_and_from_files(tmp_path):
    (tmp_path / "texts.csv").write_text("item,text\na,a happy day\nb,a joyful day\nc,tax law\n", encoding="utf-8")
    done = unisono_here("features", "text", tmp_path / "texts.csv", "-o", tmp_path / "f.csv")
    assert done.returncode == 0, done.stderr
    rows = pl.read_csv(tmp_path / "f.csv")
    a, b, c = rows.select(pl.exclude("item")).to_numpy()
    assert a @ b > a @ c
    (tmp_path / "a.txt").write_text("a happy day", encoding="utf-8")
    unisono_here("features", "text", tmp_path / "a.txt", "-o", tmp_path / "g.csv")
    np.testing.assert_allclose(pl.read_csv(tmp_path / "g.csv").select(pl.exclude("item")).to_numpy()[0], a)


def test_features_go_into_a_fit(tmp_path):
    rng = np.random.default_rng(1)
    rows = ["item,annotator,bright"]
    for i, level in enumerate(np.linspace(20, 235, 12).astype(int)):
        write_image(tmp_path / f"i{i}.png", (int(level),) * 3)
        rows += [f"i{i},{who},{level / 50 + rng.normal(0, 0.3):.2f}" for who in "abc"]
    (tmp_path / "ratings.csv").write_text("\n".join(rows), encoding="utf-8")
    images = sorted(tmp_path.glob("*.png"))
    assert unisono_here("features", "image", *images, "-o", tmp_path / "f.csv").returncode == 0
    done = unisono_here("fuse", tmp_path / "ratings.csv", "--features", tmp_path / "f.csv", "--no-report")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("kind", "name"), [("image", "x.png"), ("video", "x.mp4"), ("audio", "x.wav")])
def test_what_is_no_medium_is_refused(tmp_path, kind, name):
    (tmp_path / name).write_text("not a medium", encoding="utf-8")
    done = unisono_here("features", kind, tmp_path / name, "-o", tmp_path / "f.csv")
    assert done.returncode == 3
    assert name in done.stderr
    assert "can" in done.stderr
    assert not (tmp_path / "f.csv").exists()


def test_two_files_of_one_name_are_refused(tmp_path):
    (tmp_path / "other").mkdir()
    for place in (tmp_path, tmp_path / "other"):
        write_image(place / "same.png", (1, 2, 3))
    done = unisono_here(
        "features", "image", tmp_path / "same.png", tmp_path / "other" / "same.png", "-o", tmp_path / "f"
    )
    assert done.returncode == 3
    assert "Two files are called 'same'" in done.stderr


@pytest.mark.parametrize(("kind", "extra"), [("image", "video"), ("audio", "audio"), ("text", "text")])
def test_a_missing_library_names_the_extra(tmp_path, monkeypatch, kind, extra):
    for module in ("cv2", "opensmile"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    monkeypatch.setattr("unisono.tables.media.media_features.find_spec", lambda _name: None)
    (tmp_path / "x.png").write_bytes(b"")
    done = unisono_here("features", kind, tmp_path / "x.png", "-o", tmp_path / "f.csv")
    assert done.returncode == 3
    assert f"unisono[{extra}]" in done.stderr
