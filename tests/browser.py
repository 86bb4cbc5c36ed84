"""A headless Chromium driven through its own debugging protocol, without a package for it."""

import json
import os
import select
import shutil
import subprocess
import sys
from contextlib import contextmanager

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome", "chrome"])), None)
_SECONDS = 60


class Page:
    """One page. `problems` are errors and warnings of its console, `requests` the addresses that it requested."""

    def __init__(self, send_to, receive_from):
        self._out, self._in = send_to, receive_from
        self._number, self._session, self._events, self._received = 0, None, [], b""

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self._events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self._load("Page.navigate", url=address)

    def reload(self):
        self._load("Page.reload")

    def _load(self, method, **parameters):
        before = len(self._events)
        self.call(method, **parameters)
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events[before:]):
            self._events.append(self._receive())

    def evaluate(self, expression):
        """Return the value of an expression of JavaScript, as JSON gives it."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key, text=""):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text, windowsVirtualKeyCode=13)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    @property
    def problems(self):
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self._events if event.get("method") in kinds]

    @property
    def requests(self):
        sent = [event for event in self._events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def _receive(self):
        while b"\0" not in self._received:
            assert select.select([self._in], [], [], _SECONDS)[0], f"Chromium does not answer within {_SECONDS} s"
            part = os.read(self._in, 1 << 16)
            assert part, "Chromium has gone"
            self._received += part
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)


# Chromium reads its commands from 3 and writes its answers to 4.
_CONNECT = """
import os, sys
for end, copy in ((int(sys.argv[1]), 30), (int(sys.argv[2]), 31)):
    os.dup2(end, copy)
for copy, place in ((30, 3), (31, 4)):
    os.dup2(copy, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


@contextmanager
def chromium(directory):
    """Start Chromium with a profile in a directory; yield a page."""
    (child_in, our_out), (our_in, child_out) = os.pipe(), os.pipe()
    options = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage"]
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    start = [sys.executable, "-c", _CONNECT, str(child_in), str(child_out)]
    process = subprocess.Popen(
        [*start, CHROMIUM, *options, f"--user-data-dir={directory}", "about:blank"],
        pass_fds=(child_in, child_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(child_in)
    os.close(child_out)
    try:
        yield Page(our_out, our_in)
    finally:
        os.close(our_out)  # which ends it
        process.wait(_SECONDS)
        os.close(our_in)
