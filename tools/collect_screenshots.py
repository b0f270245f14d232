"""Takes the pictures of docs/collect.md: every page of the collection tool, on a desktop and on a phone.

    python tools/collect_screenshots.py [FOLDER]

Needs Chromium, the `dev` extra, and fonts with Chinese and Arabic letters (Debian: fonts-wqy-microhei and
fonts-dejavu-core); without the first, the pictures language-zh show empty boxes. No test needs it. Each study is served
for real and rated for real; the pictures are what raters see.
"""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright
from screenshot_languages import LANGUAGES, STUDY

from unisono.collect.studies.folder import write_starter

TARGET = Path(__file__).parent.parent / "docs" / "screenshots" / "collect"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars"]
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "has_touch": True,
        "is_mobile": True,
    },
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}
TEXTS = [
    ("letter-1", "I waited for you all afternoon, and then the rain came. I am not angry. I only wish you had called."),
    ("letter-2", "We got the flat! Come over tonight, bring everyone, bring chairs."),
]


class Camera:
    """Takes pictures of one page under one name per screen."""

    def __init__(self, page: Page, screen: str, folder: Path) -> None:
        self.page = page
        self.screen = screen
        self.folder = folder

    def take(self, name: str) -> None:
        """A picture of what is there now, once it has come to rest."""
        self.page.wait_for_timeout(350)
        self.page.screenshot(path=self.folder / f"{name}-{self.screen}.png")

    def press(self, name: str) -> None:
        """Presses a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def choose(self, *labels: str) -> None:
        """Presses answers by what stands on them."""
        for label in labels:
            self.page.locator(".option", has_text=label).first.click()

    def answer(self) -> None:
        """Moves every slider somewhere."""
        for slider in self.page.get_by_role("slider").all():
            slider.focus()
            for _ in range(random.randint(1, 5)):
                self.page.keyboard.press(random.choice(["PageUp", "PageDown"]))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The study in `folder` at an address of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-c", "from unisono.cli.main import run; run()", "collect", "serve", str(folder)]
    process = subprocess.Popen([*words, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        # Until it answers: it listens before it has written its links.
        while not _answers(f"http://127.0.0.1:{port}/health"):
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def images(camera: Camera, url: str) -> None:
    """The image task, page by page."""
    page = camera.page
    page.goto(url)
    camera.take("welcome")
    camera.press("Begin")
    page.get_by_text("Before you begin").wait_for()
    camera.take("consent")
    camera.press("I agree")
    page.get_by_text("What you will do").wait_for()
    camera.take("instructions")
    camera.press("Continue")
    camera.answer()
    camera.take("play")
    camera.press("I have seen enough")
    camera.press("Start practising")
    for number in range(3):
        camera.answer()
        camera.press("Next")
        if number == 0:
            camera.take("practice")
        camera.press("Go on")
    camera.press("Begin")
    camera.take("item-untouched")
    for number in range(66):
        if number == 22:
            camera.take("break")
        if number and number % 22 == 0:
            camera.press("Go on")
        camera.answer()
        if number == 4:
            camera.take("item")
        camera.press("Next")
    page.get_by_text("One last thing").wait_for()
    camera.take("comment")
    camera.press("Finish")
    page.locator("strong#code").wait_for()
    camera.take("finished")


def video(camera: Camera, url: str) -> None:
    """A trace: before, during and paused."""
    page = camera.page
    page.goto(url)
    for button in ("Begin", "I agree", "Continue"):
        camera.press(button)
    camera.answer()
    camera.press("I have seen enough")
    camera.press("Start practising")
    page.get_by_role("button", name="Start").wait_for()
    camera.take("trace-ready")
    camera.press("Start")
    camera.take("trace-countdown")
    page.locator(".cover").wait_for(state="hidden")
    page.keyboard.press("PageUp")
    page.wait_for_timeout(2500)
    camera.take("trace")
    page.keyboard.press("Space")
    camera.take("trace-paused")


def own(camera: Camera, url: str, name: str) -> None:
    """One item of a study of one's own."""
    camera.page.goto(url)
    for button in ("Begin", "I agree", "Continue"):
        camera.press(button)
    camera.page.locator(".panel:not([inert])").wait_for()
    camera.answer()
    camera.take(name)


def questions(camera: Camera, url: str) -> None:
    """Questions of every kind: about the rater, about a text, after the last one."""
    page = camera.page
    page.goto(url)
    camera.press("Begin")
    camera.press("I agree")
    page.get_by_label("How old are you?").fill("34")
    camera.choose("every week")
    camera.take("questionnaire")
    camera.press("Continue")
    camera.press("Continue")
    for number in range(2):
        camera.answer()
        camera.choose("agree", "home")
        if number == 0:
            camera.take("questions")
        camera.press("Next")
    page.get_by_role("heading", name="A few last questions").wait_for()
    camera.choose("3")
    camera.take("questionnaire-after")


def pairs(camera: Camera, url: str) -> None:
    """Two images to compare."""
    camera.page.goto(url)
    for button in ("Begin", "I agree", "Continue"):
        camera.press(button)
    camera.page.locator(".panel:not([inert])").wait_for()
    camera.choose("A")
    camera.take("pairs")


def closer(camera: Camera, url: str) -> None:
    """A large plane, the keys, an image enlarged."""
    own(camera, url, "pad-large")
    if camera.screen != "phone":
        camera.press("Keys")
        camera.take("keys")
        camera.page.keyboard.press("Escape")
    camera.page.locator(".zoom").click()
    camera.take("zoomed")


def other_language(camera: Camera, url: str, name: str, instructions: str) -> None:
    """One page of questions in another language."""
    camera.page.goto(url)
    camera.page.locator("form button.primary").click()
    camera.page.locator("#page button.primary").click()
    camera.page.get_by_text(instructions).wait_for()
    camera.page.locator("#page button.primary").click()
    camera.page.locator(".option").nth(3).click()
    camera.page.locator(".option").nth(5).click()
    camera.take(name)


def researcher(camera: Camera, url: str, folder: Path) -> None:
    """The researcher's pages, once the figures of a crowd whose habits are known have been computed."""
    page = camera.page
    page.goto(f"{url}/admin/login")
    camera.take("login")
    token = (folder / "admin-link.txt").read_text().strip().partition("#")[2]
    page.goto(f"{url}/admin/login#{token}")
    page.locator("#people tr").first.wait_for()
    page.locator("#quality-figures").wait_for()
    if camera.screen == "desktop":
        page.screenshot(path=camera.folder / "admin-desktop.png", full_page=True)
        page.locator("#quality summary").click()
        page.locator("#quality").screenshot(path=camera.folder / "quality-desktop.png")
        _shrink(camera.folder / "quality-desktop.png")
    else:
        page.evaluate("document.getElementById('quality').scrollIntoView()")
        camera.take("admin")
    _shrink(camera.folder / f"admin-{camera.screen}.png")


def _shrink(path: Path) -> None:
    """Text on plain ground needs few colours; a picture with 64 has a third of the bytes and looks the same."""
    from PIL import Image

    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def make_crowd(place: Path) -> Path:
    """A study that nine honest people have rated, one with the scales turned round, and one at random."""
    sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))
    from starlette.testclient import TestClient

    from collect_crowd import FAST, let_rate
    from collect_support import make_app, rate_study

    study = rate_study(place / "crowd", per_regime=20, extra=FAST)
    with TestClient(make_app(study), base_url="http://127.0.0.1") as client:
        let_rate(client, study, ["honest"] * 9 + ["reversed", "random"])
    return study.path


def make_studies(place: Path) -> dict[str, Path]:
    """The starters, with something in them, open to everybody."""
    names = {"images": "saturation-brightness-images", "video": "saturation-brightness-video"}
    names |= {"texts": "my-texts", "pictures": "my-images", "large": "my-images", "pairs": "my-pairs"}
    names |= {"questions": "my-questions"}
    folders = {}
    for short, name in names.items():
        folders[short] = place / short
        write_starter(folders[short], name)
        path = folders[short] / "study.toml"
        text = path.read_text().replace('source = "invited"', 'source = "open"')
        path.write_text(text.replace("# [[pads]]", "[[pads]]").replace("# x =", "x =").replace("# y =", "y ="))
    lines = ["item,text", *(f'{item},"{text}"' for item, text in TEXTS)]
    for name in ("texts", "questions"):
        (folders[name] / "texts.csv").write_text("\n".join(lines) + "\n")
    path = folders["large"] / "study.toml"
    path.write_text(path.read_text().replace('y = "arousal"', 'y = "arousal"\nsize = "large"', 1))
    for name in ("pictures", "large", "pairs"):
        for number in range(3):
            _landscape(folders[name] / "media" / f"lake-{number}.png", number)
    for language, (sentences, words) in LANGUAGES.items():
        folders[language] = place / language
        folders[language].mkdir()
        (folders[language] / "study.toml").write_text(STUDY.format(language=language, **words), encoding="utf-8")
        (folders[language] / "texts.csv").write_text(
            f"item,text\na,{words['text']}\nb,{words['text']}\n", encoding="utf-8"
        )
        (folders[language] / "lang.toml").write_text(sentences, encoding="utf-8")
    return folders


def _landscape(path: Path, seed: int) -> None:
    """A picture of nobody's: sky, hills, water, drawn by formula."""
    import numpy as np
    from matplotlib import image

    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:600, 0:900] / 600
    waves = zip((0.06, 0.03, 0.01), (3, 7, 19), rng.uniform(0, 6, 3), strict=True)
    ridge = 0.45 + sum(size * np.sin(pace * x + shift) for size, pace, shift in waves)
    sky = np.stack([0.98 - 0.25 * y, 0.72 - 0.1 * y, 0.55 + 0.35 * y], axis=-1)
    hill = np.stack([0.16 + 0.1 * y, 0.26 + 0.12 * y, 0.3 + 0.1 * y], axis=-1)
    water = sky[::-1] * 0.75
    picture = np.where((y > ridge)[..., None], hill, sky)
    picture = np.where((y > 0.72)[..., None], water, picture)
    image.imsave(path, np.clip(picture, 0, 1))


def run(browser: Browser, out: Path) -> None:
    """All pictures."""
    with tempfile.TemporaryDirectory() as place:
        folders = make_studies(Path(place)) | {"crowd": make_crowd(Path(place))}
        with ExitStack() as stack:
            urls = {name: stack.enter_context(served(folder)) for name, folder in folders.items()}
            for screen, options in SCREENS.items():
                context = browser.new_context(**options)
                camera = Camera(context.new_page(), screen, out)
                images(camera, urls["images"])
                video(camera, urls["video"])
                own(camera, urls["texts"], "text")
                own(camera, urls["pictures"], "pad")
                questions(camera, urls["questions"])
                pairs(camera, urls["pairs"])
                closer(camera, urls["large"])
                for language, (_, words) in LANGUAGES.items():
                    other_language(camera, urls[language], f"language-{language}", words["instructions"])
                researcher(camera, urls["crowd"], folders["crowd"])
                context.close()


def main() -> None:
    """Writes the pictures to the folder given, or to the docs."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    out.mkdir(parents=True, exist_ok=True)
    random.seed(4)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        run(browser, out)
        browser.close()


if __name__ == "__main__":
    main()
