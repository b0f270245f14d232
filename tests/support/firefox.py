"""Firefox as people use it, spoken to in its own standard protocol (WebDriver BiDi): no driver program is needed.

Debian has Firefox but no geckodriver, and Playwright wants a Firefox of its own; so this speaks to the browser itself.
Only what the tests need: pages, scripts, mouse and keys. Events are real ones, made by the browser.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from websockets.sync.client import ClientConnection, connect

T = TypeVar("T")
PATIENCE = 60.0
# Key names of WebDriver.
KEYS = {
    "Tab": "\ue004", "Enter": "\ue007", "End": "\ue010", "Home": "\ue011", "PageUp": "\ue00e", "PageDown": "\ue00f",
    "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Space": " ",
}  # fmt: skip
# Nothing is fetched, asked or updated while a test runs; films may start without a click elsewhere.
PREFERENCES = {
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "http://127.0.0.1:9/",
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "remote.prefs.recommended": True,
}


class Firefox:
    """One browser with a profile of its own, thrown away at the end."""

    def __init__(self) -> None:
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        assert program, "Firefox is missing; tools/install-system-packages installs it"
        self.profile = Path(tempfile.mkdtemp(prefix="firefox-"))
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        (self.profile / "user.js").write_text("".join(lines))
        words = [program, "--headless", "--profile", str(self.profile), "--remote-debugging-port", "0"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stack = ExitStack()
        line = connect(f"{self._address()}/session", max_size=None, open_timeout=PATIENCE)
        self.line: ClientConnection = self.stack.enter_context(line)
        self.numbers = itertools.count(1)
        self.complaints: list[str] = []
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded"])

    def _address(self) -> str:
        """Where the browser listens: it chooses the port and writes it into its profile."""
        place = self.profile / "WebDriverBiDiServer.json"
        found = wait_for(lambda: place.exists() and place.read_text().strip())
        told = json.loads(str(found))
        return f"ws://{told['ws_host']}:{told['ws_port']}"

    def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Says one thing and waits for the answer; script errors that are told meanwhile are kept."""
        number = next(self.numbers)
        self.line.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            told = json.loads(self.line.recv(timeout=PATIENCE))
            if told.get("method") == "log.entryAdded" and told["params"]["level"] == "error":
                self.complaints.append(str(told["params"]["text"]))
            if told.get("id") == number:
                assert told["type"] == "success", told
                result: dict[str, Any] = told["result"]
                return result

    def open(self, width: int = 1280, height: int = 800) -> FirefoxPage:
        """A page with cookies and storage of its own."""
        user = self.command("browser.createUserContext")["userContext"]
        context = self.command("browsingContext.create", type="tab", userContext=user)["context"]
        self.command("browsingContext.setViewport", context=context, viewport={"width": width, "height": height})
        return FirefoxPage(self, context)

    def close(self) -> None:
        """Ends the browser and forgets its profile."""
        self.stack.close()
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.profile, ignore_errors=True)


class FirefoxPage:
    """One tab."""

    def __init__(self, browser: Firefox, context: str) -> None:
        self.browser = browser
        self.context = context
        self.at = (0, 0)

    def goto(self, url: str) -> None:
        """Opens an address and waits for the page."""
        self.browser.command("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def see(self, function: str, *arguments: Any) -> Any:
        """What a function of the page says, as plain data; its arguments are plain data too."""
        call = f"async (...given) => JSON.stringify(await ({function})(...given.map(JSON.parse)) ?? null)"
        told = self.browser.command(
            "script.callFunction",
            functionDeclaration=call,
            arguments=[{"type": "string", "value": json.dumps(one)} for one in arguments],
            target={"context": self.context},
            awaitPromise=True,
        )
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        """Real input."""
        source: dict[str, Any] = {"type": kind, "id": kind, "actions": actions}
        if kind == "pointer":
            source["parameters"] = {"pointerType": "mouse"}
        self.browser.command("input.performActions", context=self.context, actions=[source])

    def move(self, x: float, y: float) -> None:
        """Moves the mouse there."""
        self.at = (round(x), round(y))
        self.act("pointer", [{"type": "pointerMove", "x": self.at[0], "y": self.at[1], "duration": 20}])

    def click(self, x: float, y: float) -> None:
        """Clicks there."""
        self.move(x, y)
        self.act("pointer", [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}])

    def key(self, name: str) -> None:
        """Presses a key."""
        value = KEYS.get(name, name)
        self.act("key", [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}])


def wait_for(question: Callable[[], T], patience: float = PATIENCE) -> T:
    """The first answer that is something."""
    end = time.monotonic() + patience
    while not (found := question()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.03)
    return found
