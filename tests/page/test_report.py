"""Report files: the page in one file without an instance, opened from the disk."""
import os
import unittest

import kept
import watch
from harness import evenkeel
from scene import RULES
from words import three

MOST_BYTES = 1_000_000
ORDERS = ("Pause", "Resume", "Reload", "Pin", "Unpin", "Accept", "Revert")


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.assets, cls.browser = kept.assets(), kept.browser()
        watch.begin(cls.browser)

    def write(self, name, *words):
        """Open a new report. Return its address."""
        path = self.assets.path(name)
        evenkeel("report", *words, "-o", path)
        self.assertLess(os.path.getsize(path), MOST_BYTES)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.browser.open("about:blank")
        self.browser.open(f"file://{path}")
        self.browser.until("the state", "return document.querySelector('#headline .chip')")
        return f"file://{path}"

    def turn(self, page):
        self.browser.run("location.hash = arguments[0]", page)

    def offers_no_order(self):
        buttons = self.browser.texts("button")
        self.assertEqual([text for text in buttons if text.startswith(ORDERS)], [])

    def test_of_messages(self):
        b = self.browser
        rules = self.assets.path("report-rules.yaml")
        with open(rules, "w", encoding="utf-8") as out:
            out.write(RULES.replace("MODE", "enforce").replace("min_duration: 10m", "min_duration: 1m"))
        url = self.write("messages.html", "-m", self.assets.path("features.yaml"), "-p", self.assets.path("profile.ekp"),
                         "-r", rules, "-M", self.assets.model, "-i", self.assets.path("traffic.mp"))
        b.until_text("Nothing is wrong any more", "h1")
        b.until_text("Report of traffic.mp, as of", "#link")
        b.until_text("3,600 lists seen")
        watch.accessible_everywhere(self, b, "report")
        self.offers_no_order()
        self.turn("#incidents")
        b.until_text("recovered", "#view .chip")
        cells = b.texts("#view tbody td")
        self.assertEqual(cells[1], "price in arm=B")
        self.assertIn("\u00d7100 (cents), estimate", cells[2])
        self.assertIn("route, enforce", cells[6])
        self.assertIn("of the first 10 items differ from upstream", cells[7])
        watch.accessible_everywhere(self, b, "incidents of a report")
        self.turn("#plan")
        b.until_text("In force: version", "#view")
        self.offers_no_order()
        self.turn("#history")
        b.until_text("end", "#decisions")
        self.turn("#feature/price")
        b.until("charts", "return document.querySelectorAll('#view svg').length >= 2")
        b.until_text("Upstream order", "#view")
        watch.accessible_everywhere(self, b, "a feature of a report")
        self.offers_no_order()
        watch.hold(self, b, url)

    def test_of_a_running_instance(self):
        b, scene = self.browser, kept.found()
        url = self.write("instance.html", "--url", scene.url)
        one, = scene.json("/api/v1/incidents")
        b.until_text("price in arm=B is \u00d7100 (cents)", "h1")
        b.until_text("Report of " + scene.url, "#link")
        self.turn("#incidents")
        b.until_text(three(one["factor_low"]), "#view")
        self.offers_no_order()
        self.turn("#feature/taxes")
        b.until_text("No evidence of a change", "#view")
        watch.hold(self, b, url)
