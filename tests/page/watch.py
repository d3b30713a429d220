"""Checks of every page: no foreign requests, no policy violations, no axe-core findings."""
import json
import os
from urllib.parse import urlsplit

AXE = os.environ.get("AXE", "")
WATCH = """addEventListener('securitypolicyviolation', (e) => (window.violations ||= []).push(e.violatedDirective + ' ' + e.blockedURI));
addEventListener('error', (e) => (window.mishaps ||= []).push(e.message));
addEventListener('unhandledrejection', (e) => (window.mishaps ||= []).push(String(e.reason)));"""


def begin(browser):
    """Reset before the first page of a class."""
    browser.look(1280, 900)
    browser.open("about:blank")
    requests(browser)


def requests(browser):
    """Return the addresses requested since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def hold(test, browser, origin):
    """Check that no request left the origin, the policy was kept, no script failed."""
    asked = requests(browser)
    for url in asked:
        if urlsplit(url).scheme not in ("data", "about"):
            test.assertTrue(url.startswith(origin), f"{url} is not of {origin}")
    test.assertEqual(browser.run("return [...(window.violations || []), ...(window.mishaps || [])]"), [])
    return asked


def accessible(test, browser, where):
    """Check that axe-core finds no violation; skipped without axe-core."""
    if not AXE:
        return
    with open(AXE, encoding="utf-8") as file:
        browser.run(file.read() + "; window.axe = axe")
    found = browser.run_async("const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
                              ".then((r) => done(r.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html).slice(0, 3)])))")
    test.assertEqual(found, [], where)


LOOKS = [("light", 1280, 900, False), ("dark", 1280, 900, True), ("phone", 320, 720, False)]


def accessible_everywhere(test, browser, where):
    """In light, in dark, and on a phone, without horizontal scrolling."""
    for name, width, height, dark in LOOKS:
        browser.look(width, height, dark)
        accessible(test, browser, f"{where}, {name}")
        wide = browser.run("return document.documentElement.scrollWidth")
        test.assertLessEqual(wide, width, f"{where}, {name}: {wide} pixels wide")
        cut = browser.run("return [...document.querySelectorAll('.wide')].filter((e) => e.querySelector('.stacked') && e.scrollWidth > e.clientWidth).map((e) => e.getAttribute('aria-label'))")
        test.assertEqual([] if name == "phone" else cut, cut, f"{where}, {name}: tables are cut")
    browser.look(1280, 900)
