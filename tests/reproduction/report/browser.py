"""A headless Chromium, spoken to through its debugging pipe: what a page does, and what it asks for."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE = 60  # seconds for any one answer; far above what it takes
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
]  # fmt: skip


def find():
    """The browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One tab. ``with Browser() as tab``; `open` loads a file, `run` evaluates JavaScript in it."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_end, self.commands = os.pipe()
        self.answers, write_end = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4. Dash knows one digit only.
        self.process = subprocess.Popen(
            [
                *("bash", "-c", f'exec "$@" 3<&{read_end} 4>&{write_end}', "bash", find()),
                *(*FLAGS, f"--user-data-dir={self.profile.name}"),
            ],
            pass_fds=(read_end, write_end),
            stderr=subprocess.DEVNULL,
        )
        os.close(read_end)
        os.close(write_end)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def _next(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.answers, 1 << 20) if ready else b""
            if not part:
                raise AssertionError(f"the browser gave no answer within {PATIENCE} s, or ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        """Send one command of the DevTools protocol; its result. Events on the way are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        while (answer := self._next()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def wait_for(self, method):
        """Read on until an event of this name comes."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def open(self, path, *, width=1280, height=900, scheme="light", media="screen"):
        """Load the file in a window of this size, with this colour scheme, and forget earlier events."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)
        self.events = []
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def run(self, code):
        """The value of a JavaScript expression in the page; an exception there is one here."""
        answer = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key, text="", code=0):
        """Press and release one key, as a keyboard does."""
        given = {"key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **given)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def complaints(self):
        """Everything the page's console and log said, and every exception."""
        names = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in names]

    def requests(self):
        """The addresses of everything that the page asked for, without the bytes of data: addresses."""
        asked = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"].partition(",")[0] for event in asked]

    def pdf(self):
        """The page printed, as the bytes of a PDF file."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=False)["data"])
