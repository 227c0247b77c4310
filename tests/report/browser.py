"""A real Chromium, driven through a pipe: no socket, no library, one page at a time."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
TIMEOUT_S = 60.0


class Browser:
    """One Chromium with a profile of its own, that ends with the `with` block."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._next = 0
        self._session = ""
        self._unread = b""

    def __enter__(self) -> Self:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        assert program is not None
        self._profile = tempfile.mkdtemp(prefix="recon-chromium-")
        read_theirs, self._write = os.pipe()
        self._read, write_theirs = os.pipe()
        wrapper = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'  # the pipe must be descriptors 3 and 4 there
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                wrapper,
                "bash",
                str(read_theirs),
                str(write_theirs),
                program,
                *FLAGS,
                f"--user-data-dir={self._profile}",
                "about:blank",
            ],
            pass_fds=(read_theirs, write_theirs),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_theirs)
        os.close(write_theirs)
        os.set_blocking(self._read, False)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=TIMEOUT_S)
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **params: Any) -> Any:
        """Call a method of the DevTools protocol and return its result; events on the way are kept."""
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._next:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False, fragment: str = "") -> None:
        """Load a file as a window of that size sees it, and wait until it is ready."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call("Page.navigate", url=page.absolute().as_uri() + fragment)
        end = time.monotonic() + TIMEOUT_S
        while self.evaluate("document.documentElement?.dataset.ready") != "yes":
            assert time.monotonic() < end
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """Value of a JavaScript expression in the page; of a promise, what it brings."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + TIMEOUT_S
        while not self.evaluate(f"!!({expression})"):
            assert time.monotonic() < end, expression
            time.sleep(0.02)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as a person does."""
        codes = {"Tab": 9, "Enter": 13, "ArrowDown": 40, "Backspace": 8}
        for key in keys:
            words = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
            text = "\r" if key == "Enter" else key if len(key) == 1 else ""
            self.call("Input.dispatchKeyEvent", type="keyDown", **words, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **words)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Save what is seen, or the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def messages(self) -> list[str]:
        """Console messages, errors and log entries since the page was opened; the policy's complaints among them."""
        wanted = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self.events if event["method"] in wanted]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._unread:
            assert time.monotonic() < end, "Chromium does not answer"
            try:
                part = os.read(self._read, 1 << 20)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            assert part, "Chromium ended"
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        made: dict[str, Any] = json.loads(message)
        return made
