"""The page shows the values of the same instance's API, through a whole fault."""
import datetime
import unittest
import zoneinfo

import kept
import watch
from harness import eventually
from scene import Scene
from words import three, written

ZONE = "Asia/Tokyo"


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene, cls.browser = cls.enterClassContext(Scene(kept.assets())), kept.browser()
        cls.addClassCleanup(cls.browser.zone, "")

    def setUp(self):
        if not watch.AXE:
            print("(without axe-core)", end=" ")

    def test_story(self):
        b, s = self.browser, self.scene
        watch.begin(b)
        b.zone(ZONE)
        b.open(s.url)
        b.until_text("No data yet", "h1")
        s.calm()
        self.calm()
        s.suspected()
        self.suspected()
        s.routed()
        s.deep_in()
        self.routed()
        self.table()
        self.feature()
        self.plan_and_history()
        self.modes()
        s.recovered()
        self.recovered()
        watch.hold(self, b, s.url)

    def turn(self, page):
        self.browser.run("location.hash = arguments[0]", page)

    def finding(self):
        return self.scene.json("/api/v1/findings")[0]

    def calm(self):
        b = self.browser
        b.until_text("Nothing is wrong", "h1")
        b.until_text("OK", "#headline .chip")
        b.until_text("1,000 lists seen")
        b.until("all rows", "return document.querySelectorAll('#features tbody tr').length === arguments[0]",
                len(self.scene.json("/api/v1/features")["features"]))
        self.assertEqual(b.texts("#problems .card"), [])
        self.assertEqual(b.text("#service"), "hotels")
        watch.accessible_everywhere(self, b, "ok")

    def suspected(self):
        b = self.browser
        b.until_text("Suspected: price", "h1")
        b.until_text("Not known yet", "#problems")
        watch.accessible(self, b, "suspected")

    def newest_finding(self):
        """Return the finding as the page shows it, after its last update."""
        def shown():
            f = self.finding()
            return f"{three(f['factor_low'])}\u2013{three(f['factor_high'])}" in self.browser.text("#problems") and f
        return eventually("the page has the newest interval", shown)

    def routed(self):
        b, f = self.browser, self.newest_finding()
        self.assertEqual((f["feature"], f["segment"], f["mode"]), ("price", {"arm": "B"}, "enforce"))
        b.until_text("price in arm=B is \u00d7100 (cents)", "h1")
        b.until_text(f"Estimated factor {three(f['factor'])}, 95% interval {three(f['factor_low'])}\u2013{three(f['factor_high'])}.", "#headline")
        answers = dict(zip(b.texts("#problems dt"), b.texts("#problems dd")))
        self.assertEqual(list(answers), ["What", "Since", "Certainty", "Mitigation", "Without mitigation"])
        self.assertIn("looks like amounts in cents", answers["What"])
        self.assertIn(f"{three(f['factor_low'])}\u2013{three(f['factor_high'])}", answers["Certainty"])
        self.assertIn("Routed: the lists in arm=B", answers["Mitigation"])
        since = datetime.datetime.fromtimestamp(f["since_ms"] / 1000, datetime.timezone.utc)
        self.assertIn(since.astimezone(zoneinfo.ZoneInfo(ZONE)).strftime("%H:%M:%S"), answers["Since"])
        self.assertEqual(b.run("return document.querySelector('#problems time').title"), since.strftime("%Y-%m-%d %H:%M:%S UTC"))
        lists = next(r for r in self.scene.json("/api/v1/impact")["routes"] if r["feature"] == "price")["plan_vs_upstream"]["lists"]
        b.until_text(f"{lists} lists shadow scored", "#problems")
        watch.accessible_everywhere(self, b, "routed")

    def table(self):
        b = self.browser
        b.until("price is first", "return document.querySelector('#features tbody a').innerText === 'price'"
                " && document.querySelector('#features tbody .chip')?.innerText === 'confirmed'")
        eventually("the table has the figures of the API", self.table_agrees)
        b.type("#search", "distance")
        b.until("two rows", "return document.querySelectorAll('#features tbody tr').length === 2")
        b.run("document.querySelector('#search').value = ''; document.querySelector('#search').dispatchEvent(new Event('input'))")
        b.click("[data-key='sort name']")
        names = b.texts("#features tbody a")
        self.assertEqual(names, sorted(names))
        self.assertEqual(b.run("return document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "ascending")
        b.run("document.querySelector('#features tbody a').focus()")
        b.keys("\ue015")
        self.assertEqual(b.run("return document.activeElement.innerText"), names[1])

    def table_agrees(self):
        """Statistics are computed a few features at a time, and polled every ten seconds."""
        api = {f["feature"]: f for f in self.scene.json("/api/v1/features")["features"]}
        rows = {name: [cell.strip() for cell in cells] for name, *cells in
                self.browser.run("return [...document.querySelectorAll('#features tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")}
        self.assertEqual(set(rows), set(api))
        self.assertIn("enforce", rows["price"][-1])
        return all(rows[name][1] in {"\u00d7" + three(v["current"]["scale_ratio"]) for v in (api[name], api[name]["most_shifted_segment"] or api[name])}
                   for name in set(api) - {"price"})

    def feature(self):
        b = self.browser
        self.turn("#feature/price")
        b.until_text("Segments side by side")
        self.assertEqual(b.text("#view h2"), "price")
        detail = self.scene.json("/api/v1/features/price")
        rows = {row[0]: row for row in b.run("return [...document.querySelectorAll('#cells tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")}
        self.assertEqual(set(rows) - {"in training"}, {"all traffic", "arm=A", "arm=B"})
        cell = next(c for c in detail["segments"] if c["segment"] == {"arm": "B"})
        self.assertAlmostEqual(written(rows["arm=B"][6]), cell["current"]["p50"], delta=0.05 * cell["current"]["p50"])
        self.assertEqual(rows["in training"][6], three(detail["training"]["p50"]))
        if cell.get("histogram"):
            b.until_text("Distribution in arm=B")
            label = b.run("return document.querySelector('#feature-shape svg').getAttribute('aria-label')")
            self.assertIn(f"with median {three(detail['training']['p50'])}", label)
        watch.accessible_everywhere(self, b, "feature")
        self.turn("#feature/prise")
        b.until_text("Unknown item feature")
        b.click("#view a")
        b.until_text("Segments side by side")

    def incident(self, state):
        """Check the row of the only incident against the API."""
        b = self.browser
        self.turn("#incidents")
        b.until_text(state, "#view .chip")
        one, = self.scene.json("/api/v1/incidents")
        self.assertEqual((one["state"], one["feature"], one["segment"], one["unit"]), (state, "price", {"arm": "B"}, "cents"))
        cells = b.texts("#view tbody td")
        self.assertEqual(cells[:2], [state, "price in arm=B"])
        self.assertIn(f"\u00d7100 (cents) estimate \u00d7{three(one['factor'])} ({three(one['factor_low'])}\u2013{three(one['factor_high'])})", cells[2])
        self.assertEqual(cells[4] == "open", one["to_ms"] is None)
        self.assertIn("route, enforce, since ", cells[6])
        watch.accessible_everywhere(self, b, f"incident, {state}")
        self.turn("#")
        return one

    def plan_and_history(self):
        b = self.browser
        self.turn("#plan")
        b.until_text("a finding", "#view")
        watch.accessible_everywhere(self, b, "plan")
        self.turn("#history")
        decisions = self.scene.json("/api/v1/history?n=1000")
        b.until("all decisions", "return document.querySelectorAll('#decisions tbody tr').length === arguments[0]", len(decisions))
        newest = b.texts("#decisions tbody tr:first-child td")
        self.assertEqual(newest[0], str(decisions[-1]["sequence"]))
        self.assertIn(decisions[-1]["reason"], newest)
        watch.accessible_everywhere(self, b, "history")
        self.assertIsNone(self.incident("mitigated")["to_ms"])

    def modes(self):
        """Every mode is shown, at once after a change of rules."""
        with open(self.scene.rules, encoding="utf-8") as file:
            rules = file.read()
        for mode, chip, says in (("shadow", "shadow", "Nothing in shadow"), ("observe", "observed", "Nothing in observe"),
                                 ("canary", "canary", "Canary: "), ("enforce", "mitigated", "Routed: ")):
            self.scene.reload(rules.replace("mode: enforce, units", f"mode: {mode}, units"))
            self.browser.until_text(says, "#problems")
            self.browser.until_text(chip, "#headline .chip")
            if mode == "canary":
                cell, = self.scene.json("/api/v1/plan")["entries"]
                self.browser.until_text(f"canary {cell['percent']}%", "#headline .chip")

    def recovered(self):
        b = self.browser
        b.until_text("Nothing is wrong any more", "h1")
        b.until_text("Still routed: price in arm=B")
        self.scene.over()
        b.until_text("its route ended at", "#headline")
        self.assertEqual(self.scene.json("/api/v1/plan")["entries"], [])
        watch.accessible(self, b, "recovered")
        one = self.incident("recovered")
        self.assertTrue(one["from_ms"] < one["mitigated_ms"] < one["to_ms"])
        self.assertGreater(one["treated_lists"], 0)
