"""People at Firefox: one with a mouse, one with a keyboard and no pointer at all."""

from __future__ import annotations

from typing import Any

from firefox import FirefoxPage, wait_for

_BUTTON = """(name) => {
  const named = (one) => one.innerText.trim() === name && one.checkVisibility();
  const found = [...document.querySelectorAll("button")].find(named);
  if (!found || found.disabled) return null;
  found.scrollIntoView({ block: "nearest" });
  const { x, y, width, height } = found.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
_SLIDERS = """() => [...document.querySelectorAll(".panel:not([inert]) input[type=range], .zone input")].map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return { id: one.id, x, y, width, height };
})"""
_PLAYING = "() => Boolean(document.querySelector('.cover')?.hidden)"
_FOCUS = """() => {
  const { id, tagName, innerText } = document.activeElement;
  return [id, tagName === "BUTTON" && innerText.trim()];
}"""


class FirefoxMouse:
    """Clicks; traces by moving without a button."""

    def __init__(self, page: FirefoxPage) -> None:
        self.page = page

    def press(self, name: str) -> None:
        """Presses a button by its name."""
        self.page.click(*wait_for(lambda: self.page.see(_BUTTON, name)))

    def title(self) -> str:
        """The heading of the page."""
        return str(self.page.see("() => document.querySelector('h1')?.innerText ?? ''"))

    def sliders(self) -> list[dict[str, Any]]:
        """The sliders that can be moved now."""
        found: list[dict[str, Any]] = wait_for(lambda: self.page.see(_SLIDERS))
        return found

    def move(self, slider: dict[str, Any], value: float) -> None:
        """Puts a slider (0 to 100) to a value."""
        self.page.click(*place_on(slider, value))

    def submit(self) -> None:
        """Goes on to the next item."""
        self.press("Next")

    def rate(self, *values: float) -> None:
        """Answers one page."""
        before = self.title()
        for slider, value in zip(self.sliders(), values, strict=True):
            self.move(slider, value)
        self.submit()
        wait_for(lambda: self.title() != before)

    def follow(self, slider: dict[str, Any], value: float) -> None:
        """Moves the handle while a film plays."""
        self.page.move(*place_on(slider, value))

    def trace(self) -> None:
        """Watches a film from beginning to end, the handle going to and fro."""
        before = self.title()
        self.press("Start")
        wait_for(lambda: self.page.see(_PLAYING))
        slider = self.sliders()[0]
        for step in range(2000):
            if not self.page.see(_PLAYING):
                break
            self.follow(slider, 20 + 3 * (step % 20))
        wait_for(lambda: self.title() != before)

    def code(self) -> str:
        """The completion code, once it is there."""
        return str(wait_for(lambda: self.page.see("() => document.querySelector('strong#code')?.innerText")))


class FirefoxKeyboard(FirefoxMouse):
    """Has no pointer at all."""

    def press(self, name: str) -> None:
        wait_for(lambda: self.page.see(_BUTTON, name))
        for _ in range(40):
            if self.page.see(_FOCUS)[1] == name:
                self.page.key("Enter")
                return
            self.page.key("Tab")
        raise AssertionError(f"no way to '{name}' by keyboard")

    def move(self, slider: dict[str, Any], value: float) -> None:
        for _ in range(20):
            if self.page.see(_FOCUS)[0] == slider["id"]:
                break
            self.page.key("Tab")
        for key in ("Home", *["PageUp"] * int(value // 10), *["ArrowRight"] * round(value % 10)):
            self.page.key(key)

    def submit(self) -> None:
        self.page.key("Enter")

    def follow(self, slider: dict[str, Any], value: float) -> None:
        self.page.key("PageUp" if value < 50 else "ArrowLeft")


def place_on(slider: dict[str, Any], value: float) -> tuple[float, float]:
    """Where on the page a slider from 0 to 100 has this value."""
    return slider["x"] + 14 + (slider["width"] - 28) * value / 100, slider["y"] + slider["height"] / 2
