"""Debian's Chromium, driven by Playwright, with what a page says and asks for.

Nothing is downloaded: the Chromium is the system's, and a test that uses it is marked
`system("chromium|google-chrome")`.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Locator, expect, sync_playwright

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage")
TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)


@contextmanager
def chromium() -> Iterator[Browser]:
    """One Chromium, for one module: until it ends, Playwright's event loop runs here, and no other could be started."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    assert program is not None
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=program, args=FLAGS) as browser:
        yield browser


class Tab:
    """A tab with a profile of its own, which opens one file after the other, and what is heard of it."""

    def __init__(self, browser: Browser) -> None:
        self.messages: list[str] = []
        """Console messages and uncaught errors; complaints about the content security policy are among them."""
        self.requests: list[str] = []
        """Addresses that were asked for, that of the page first."""
        self.page = browser.new_page(reduced_motion="reduce")
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))

    def open(
        self,
        file: Path,
        *,
        fragment: str = "",
        width: int = 1280,
        scheme: Literal["light", "dark"] = "light",
        media: Literal["screen", "print"] = "screen",
    ) -> None:
        """Load a file anew as a window of that width shows it, and wait until its script is done."""
        self.page.goto("about:blank")
        self.messages.clear()
        self.requests.clear()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media=media, color_scheme=scheme)
        self.page.goto(file.absolute().as_uri() + fragment)
        expect(self.find("html")).to_have_attribute("data-ready", "yes")

    def find(self, selector: str) -> Locator:
        """What matches a CSS selector, now or later."""
        return self.page.locator(selector)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as a person does."""
        for key in keys:
            self.page.keyboard.press(key)
