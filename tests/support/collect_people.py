"""People at a browser: they look at the colour on the screen and answer with mouse, keyboard or finger."""

from __future__ import annotations

import colorsys
import time
from random import Random

from playwright.sync_api import Locator, Page, expect

_PIXEL = "canvas => [...canvas.getContext('2d').getImageData(2, 2, 1, 1).data].slice(0, 3)"
# All that is seen at one moment of a trace, or null once it is over: between two looks the page may have changed.
_GLANCE = """() => {
  const [cover, canvas, slider] = [".cover", ".stage canvas", ".zone input"].map((one) => document.querySelector(one));
  if (!cover || !cover.hidden || !canvas || !slider) return null;
  const { x, y, width, height } = slider.getBoundingClientRect();
  const rgb = [...canvas.getContext("2d").getImageData(2, 2, 1, 1).data].slice(0, 3);
  return { rgb, box: [x, y, width, height], value: Number(slider.value) };
}"""


def perceive(page: Page) -> dict[str, float]:
    """Saturation and brightness of the colour that is on the screen now."""
    return named(page.locator(".stimulus canvas").first.evaluate(_PIXEL))


def named(rgb: list[int]) -> dict[str, float]:
    """Saturation and brightness of a colour."""
    _, saturation, value = colorsys.rgb_to_hsv(*(channel / 255 for channel in rgb))
    return {"saturation": 100 * saturation, "brightness": 100 * value}


class Person:
    """What all have in common: the way through the pages."""

    def __init__(self, page: Page, seed: int = 1) -> None:
        self.page = page
        self.rng = Random(seed)

    def press(self, name: str) -> None:
        """Presses a button by its name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def move(self, slider: Locator, value: float) -> None:
        """Puts a slider (0 to 100) to a value."""
        raise NotImplementedError

    def submit(self) -> None:
        """Goes on to the next item."""
        self.press("Next")

    def judge(self) -> None:
        """Looks at the colour and moves both sliders."""
        seen = perceive(self.page)
        for slider in self.page.get_by_role("slider").all():
            name = str(slider.get_attribute("id")).removeprefix("scale-")
            self.move(slider, min(100.0, max(0.0, seen[name] + self.rng.gauss(0, 2))))

    def begin(self) -> None:
        """From the door to the first page that counts."""
        self.press("Begin")
        self.press("I agree")
        self.press("Continue")

    def play(self) -> None:
        """Plays with saturation and brightness."""
        for slider in self.page.get_by_role("slider").all():
            self.move(slider, 30)
        self.press("I have seen enough")

    def practise(self, count: int) -> None:
        """Rates the practice items and reads what was true."""
        self.press("Start practising")
        for _ in range(count):
            self.judge()
            self.submit()
            self.page.get_by_text("true:").first.wait_for()
            self.press("Go on")
        self.press("Begin")

    def rate(self, count: int) -> None:
        """Rates so many items."""
        for _ in range(count):
            before = self.page.locator("h1").inner_text()
            self.judge()
            self.submit()
            # Not by a script of the page: its policy forbids to evaluate text, which waiting for one would do.
            expect(self.page.locator("h1")).not_to_have_text(before)

    def finish(self) -> str:
        """From the last item to the code."""
        self.press("Finish")
        return self.page.locator("strong#code").inner_text()

    def trace(self, name: str) -> None:
        """Follows one dimension while the colour moves."""
        self.press("Start")
        self.page.locator(".cover").wait_for(state="hidden")
        deadline = time.monotonic() + 180
        while glance := self.page.evaluate(_GLANCE):
            assert time.monotonic() < deadline
            x, y, width, height = glance["box"]
            value = named(glance["rgb"])[name]
            self.follow(value, glance["value"], (x + 14 + (width - 28) * value / 100, y + height / 2))
            self.page.wait_for_timeout(30)

    def follow(self, value: float, current: float, place: tuple[float, float]) -> None:
        """Moves the handle a little later than the eye."""
        raise NotImplementedError


class Mouse(Person):
    """Clicks; traces by moving without a button."""

    def move(self, slider: Locator, value: float) -> None:
        self.page.mouse.click(*place_on(slider, value))

    def follow(self, value: float, current: float, place: tuple[float, float]) -> None:
        self.page.mouse.move(*place)


class Keyboard(Person):
    """Has no pointer at all."""

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).wait_for()
        for _ in range(40):
            text = self.page.evaluate("document.activeElement.tagName === 'BUTTON' && document.activeElement.innerText")
            if text == name:
                self.page.keyboard.press("Enter")
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no way to '{name}' by keyboard")

    def move(self, slider: Locator, value: float) -> None:
        for _ in range(20):
            if slider.evaluate("node => node === document.activeElement"):
                break
            self.page.keyboard.press("Tab")
        self.page.keyboard.press("Home")
        for _ in range(int(value // 10)):
            self.page.keyboard.press("PageUp")
        for _ in range(round(value % 10)):
            self.page.keyboard.press("ArrowRight")

    def submit(self) -> None:
        self.page.keyboard.press("Enter")

    def follow(self, value: float, current: float, place: tuple[float, float]) -> None:
        self.page.keyboard.press(
            "PageUp" if value > current + 5 else "PageDown" if value < current - 5 else "ArrowRight"
        )


class Finger(Person):
    """Taps; traces with a finger that stays down."""

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).tap()

    def move(self, slider: Locator, value: float) -> None:
        slider.scroll_into_view_if_needed()
        self.page.touchscreen.tap(*place_on(slider, value))

    def trace(self, name: str) -> None:
        self.down = False
        self.session = self.page.context.new_cdp_session(self.page)
        super().trace(name)
        self.session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def follow(self, value: float, current: float, place: tuple[float, float]) -> None:
        kind = "touchMove" if self.down else "touchStart"
        points = [{"x": place[0], "y": place[1]}]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self.down = True


def place_on(slider: Locator, value: float) -> tuple[float, float]:
    """Where on the page a slider from 0 to 100 has this value."""
    box = slider.bounding_box()
    assert box
    return box["x"] + 14 + (box["width"] - 28) * value / 100, box["y"] + box["height"] / 2
