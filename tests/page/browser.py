"""Headless Chromium over WebDriver's HTTP protocol, with only the standard library."""
import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--force-color-profile=srgb"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
WAIT = 180


def available():
    return bool(shutil.which("chromedriver")) and bool(shutil.which("chromium"))


class Refused(Exception):
    """Error message of the driver."""


class Browser:
    """Window with a log of its network requests, as a context manager."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="evenkeel-page-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True, env={**os.environ, "HOME": self.folder})
        self.base = f"http://127.0.0.1:{self._port()}"
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={self.folder}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "timeouts": {"script": 1000 * WAIT},
                  "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}
        self.session = ""
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + answer["sessionId"]
        return self

    @contextlib.contextmanager
    def before(self, script):
        """Run the script before those of every page opened meanwhile."""
        of = self.command("Page.addScriptToEvaluateOnNewDocument", source=script)
        try:
            yield
        finally:
            self.command("Page.removeScriptToEvaluateOnNewDocument", identifier=of["identifier"])

    def __exit__(self, *_):
        try:
            self._call("DELETE", "", None)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _port(self):
        for line in self.driver.stdout:
            if "successfully on port " in line:
                return int(line.rsplit("on port ", 1)[1].strip().rstrip("."))
        raise AssertionError("chromedriver ended before it listened")

    def _call(self, method, path, body):
        data = json.dumps(body).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + self.session + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=2 * WAIT) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise Refused(f"{value['error']}: {value['message']}") from None

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """The last argument of the script is the callback for its result."""
        return self._call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def command(self, name, **parameters):
        """Send a DevTools command."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def find(self, css):
        return self._call("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self._call("POST", f"/element/{self.find(css)}/click", {})

    def type(self, css, text):
        self._call("POST", f"/element/{self.find(css)}/value", {"text": text})

    def keys(self, text):
        """Send keys to the focused element."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def text(self, css="body"):
        return self.run("const e = document.querySelector(arguments[0]); return e ? e.innerText : ''", css)

    def texts(self, css):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText.trim())", css)

    def log(self, kind):
        return self._call("POST", "/se/log", {"type": kind})

    def until(self, what, script, *arguments, seconds=WAIT):
        """Return the first true result of the script."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script, *arguments)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}; the page says:\n{self.text()[:3000]}")
            time.sleep(0.05)

    def until_text(self, text, css="body"):
        return self.until(f"'{text}' in {css}", "const e = document.querySelector(arguments[0]);"
                          "return e && e.innerText.includes(arguments[1])", css, text)

    def look(self, width, height, dark=False, scale=1, still=True):
        """Set the window size in CSS pixels, and the user's preferences."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                    {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}]
        self.command("Emulation.setEmulatedMedia", features=features)

    def zone(self, name):
        self.command("Emulation.setTimezoneOverride", timezoneId=name)

    def picture(self, path, css=None):
        """Return a screenshot; with css from the top to the end of that element."""
        clip = {}
        if css:
            size = self.run("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                            "return [innerWidth, Math.ceil(r.bottom + scrollY) + 16]", css)
            clip = {"clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}, "captureBeyondViewport": True}
        image = self.command("Page.captureScreenshot", format="png", **clip)
        with open(path, "wb") as out:
            out.write(base64.b64decode(image["data"]))
