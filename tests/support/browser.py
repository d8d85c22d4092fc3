"""Chromium without a window, driven over a pipe (Chrome DevTools Protocol).

One page. What the browser says of it is kept: `errors` has what reached its
console as an error, uncaught exceptions, and what a Content-Security-Policy
stopped.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time


PATIENCE = 90  # seconds; what does not come at all is found


class Refused(AssertionError):
    """What the browser was asked for it does not do: the page is gone, say; or
    the script threw, as there is not yet what it asks about."""


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self, profile):
        to_child, self.out = os.pipe()
        self.into, from_child = os.pipe()

        def hand_over():  # the protocol is spoken on descriptors 3 and 4
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--no-first-run", "--disable-background-networking", "--window-size=1280,900", "--user-data-dir=" + profile],
            preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.rest, self.count, self.session = b"", 0, None
        self.errors, self.asked, self.refused = [], [], None
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True, targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Log", "Network", "Runtime", "Audits"):
            self.call(domain + ".enable")

    def receive(self, seconds=2 * PATIENCE):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.into], [], [], seconds)
            assert ready, "the browser says nothing"
            more = os.read(self.into, 1 << 16)
            assert more, "the browser is gone"
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def note(self, event):
        method, p = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append("uncaught: " + p["exceptionDetails"].get("exception", {}).get("description", str(p)))
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "assert"):
            self.errors.append("console: " + str(p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.errors.append("log: %s %s" % (p["entry"]["text"], p["entry"].get("url", "")))
        elif method == "Audits.issueAdded" and p["issue"]["code"] == "ContentSecurityPolicyIssue":
            self.errors.append("policy: " + json.dumps(p["issue"]["details"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(p["request"]["url"])

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise Refused(answer)
                return answer["result"]
            self.note(answer)

    def value(self, script):
        r = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
                      allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in r:
            raise Refused(script, r)
        return r["result"].get("value")

    def wait(self, script, seconds=PATIENCE):
        """Until it is true; what it is. Pages may follow each other meanwhile."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.value(script)
            except Refused as e:  # between two pages, say
                value = None
                self.refused = e
            if value:
                return value
            assert time.monotonic() < end, "not so in time: %s; %s %s; the page says: %s" % (
                script, self.errors, self.refused, self.value("document.body.innerText")[:1500])
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("location.href === %s && document.readyState === 'complete'" % json.dumps(url))

    def press(self, key, shift=False):
        """A key of the keyboard, as its user presses it."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
        about = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": codes[key], "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **about, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def middle_of(self, selector):
        """Where it is, brought into view."""
        return self.value("""(() => {
            const e = document.querySelector(%s);
            e.scrollIntoView({block: 'center'});
            const b = e.getBoundingClientRect();
            return {x: b.left + b.width / 2, y: b.top + b.height / 2};
        })()""" % json.dumps(selector))

    def mouse(self, kind, at):
        self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def click(self, selector):
        """With the mouse, in the middle of what is there; again where it has
        moved meanwhile, as its user would. It may have been drawn anew."""
        self.wait("document.querySelector(%s) !== null" % json.dumps(selector))
        self.value("""(() => {
            window.removeEventListener('click', window.hears, true);
            window.hears = (e) => {
                const meant = document.querySelector(%s);
                window.missed &&= !(meant && meant.contains(e.target));
            };
            window.addEventListener('click', window.hears, true);
        })()""" % json.dumps(selector))
        for _ in range(20):
            self.value("window.missed = true")
            at = self.middle_of(selector)
            self.mouse("mousePressed", at)
            self.mouse("mouseReleased", at)
            try:
                for pause in (0, 0.3):
                    time.sleep(pause)
                    if self.value("window.missed") is not True:
                        return
            except Refused:  # it led to another page
                return
        raise AssertionError("cannot be clicked: " + selector)

    def type(self, selector, text):
        self.wait("document.querySelector(%s) !== null" % json.dumps(selector))
        self.value("(() => { const e = document.querySelector(%s); e.focus(); e.select(); })()" % json.dumps(selector))
        self.call("Input.insertText", text=text)

    def look(self, width, height=900, scheme="light", motion="no-preference"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}])

    def picture(self, whole=False):
        """As a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
