"""The page shows the values of the same instance's API, through a whole fault."""
import datetime
import unittest
import zoneinfo

import kept
import watch
from harness import eventually
from scene import TOKEN, Scene
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
        every = len(self.scene.json("/api/v1/features")["features"])
        b.until_text(f"Show {every - 5} more features without a finding", "#pager")
        self.assertEqual(len(b.texts("#features tbody tr")), 5)
        b.click("[data-key=fold]")
        b.until("all rows", "return document.querySelectorAll('#features tbody tr').length === arguments[0]", every)
        b.click("[data-key=fold]")
        self.assertEqual(b.texts("#problems .card"), [])
        self.assertEqual(b.text("#service"), "hotels")
        watch.accessible_everywhere(self, b, "ok")

    def suspected(self):
        b = self.browser
        b.until_text("Suspected: price", "h1")
        b.until_text("Unknown: no list is changed until it is confirmed.", "#problems")
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
        answers = dict(zip(b.texts("#problems dt"), b.texts("#problems dd")))
        self.assertEqual(list(answers), ["Mitigation", "Effect", "What", "Certainty"])
        self.assertIn("looks like amounts in cents", answers["What"])
        self.assertIn(f"Estimate \u00d7{three(f['factor'])}, 95% interval {three(f['factor_low'])}\u2013{three(f['factor_high'])}.", answers["Certainty"])
        self.assertIn("Routed: the lists in arm=B", answers["Mitigation"])
        since = datetime.datetime.fromtimestamp(f["since_ms"] / 1000, datetime.timezone.utc)
        self.assertIn(since.astimezone(zoneinfo.ZoneInfo(ZONE)).strftime("%H:%M:%S"), b.text("#problems .since"))
        self.assertEqual(b.run("return document.querySelector('#problems time').title"), since.strftime("%Y-%m-%d %H:%M:%S UTC"))
        incident, = self.scene.json("/api/v1/incidents")
        b.until_text(f"; all lists of arm=B; {incident['lists']:,} lists of all traffic so far", "#problems .since")
        self.assertEqual(b.texts("#problems button"), ["Accept as normal", "Pin"])
        lists = next(r for r in self.scene.json("/api/v1/impact")["routes"] if r["feature"] == "price")["plan_vs_upstream"]["lists"]
        b.until_text(f"{lists} lists shadow scored", "#problems")
        watch.accessible_everywhere(self, b, "routed")

    def table(self):
        b = self.browser
        b.until("price is first", "return document.querySelector('#features tbody a').innerText === 'price'"
                " && document.querySelector('#features tbody .chip')?.innerText === 'confirmed'")
        b.click("[data-key=fold]")
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
        detail, cell = eventually("the segments have the figures of the API", self.segments_agree)
        if cell.get("histogram"):
            b.until_text("Distribution in arm=B")
            label = b.run("return document.querySelector('#feature-shape svg').getAttribute('aria-label')")
            self.assertIn(f"with median {three(detail['training']['p50'])}", label)
        watch.accessible_everywhere(self, b, "feature")
        self.turn("#feature/prise")
        b.until_text("Unknown item feature")
        b.click("#view h2 + p a")
        b.until_text("Segments side by side")

    def segments_agree(self):
        """Return the feature of the API and its segment with the fault, once the page shows that median."""
        detail = self.scene.json("/api/v1/features/price")
        rows = {row[0]: row for row in self.browser.run("return [...document.querySelectorAll('#cells tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")}
        self.assertEqual(set(rows) - {"in training"}, {"all traffic", "arm=A", "arm=B"})
        self.assertEqual(rows["in training"][6], three(detail["training"]["p50"]))
        cell = kept.cell_of(detail, {"arm": "B"})
        return abs(written(rows["arm=B"][6]) - cell["current"]["p50"]) <= 0.05 * cell["current"]["p50"] and (detail, cell)

    def incident(self, state):
        """Check the row of the only incident against the API."""
        b = self.browser
        self.turn("#incidents")
        b.until_text(state, "#view .chip")
        one, = self.scene.json("/api/v1/incidents")
        self.assertEqual((one["state"], one["feature"], one["segment"], one["unit"]), (state, "price", {"arm": "B"}, "cents"))
        b.until_text(f"\u00d7100 (cents), estimate \u00d7{three(one['factor'])} ({three(one['factor_low'])}\u2013{three(one['factor_high'])})", "#view tbody td:nth-child(3)")
        cells = b.texts("#view tbody td")
        self.assertEqual(cells[:2], [state, "price in arm=B"])
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
        for mode, chip, says in (("shadow", "shadow", "Shadow: output unchanged"), ("observe", "observed", "Observed only: output unchanged."),
                                 ("canary", "canary", "Canary: "), ("enforce", "mitigated", "Routed: ")):
            self.scene.reload(rules.replace("mode: enforce, units", f"mode: {mode}, units"))
            self.browser.until_text(says, "#problems")
            self.browser.until_text(chip, "#headline .chip")
            if mode == "observe":
                self.enforced()
            if mode == "canary":
                cell, = self.scene.json("/api/v1/plan")["entries"]
                self.browser.until_text(f"canary {cell['percent']}%", "#headline .chip")

    def act(self, button, submit, **fields):
        """Use a button of the card, and wait until its command is done."""
        b = self.browser
        b.run("[...document.querySelectorAll('#problems button')].find((e) => e.innerText === arguments[0]).click()", button)
        b.until_text(submit, "#dialog [type=submit]")
        b.until("it can be sent", "return !document.querySelector('#dialog [type=submit]').disabled")
        for name, text in {"token": TOKEN, **fields}.items():
            b.run("const e = document.querySelector(`#dialog [name=${arguments[0]}]`); if (e) e.value = arguments[1]", name, text)
        b.click("#dialog [type=submit]")
        b.until_text("Done.", "#dialog")
        b.click("#dialog button")

    def enforced(self):
        """The action that the rules only observe is pinned from the card, and the pin removed."""
        b = self.browser
        b.until_text("If routed", "#problems")
        self.assertEqual(b.texts("#problems button"), ["Enforce", "Accept as normal", "Pin"])
        watch.accessible_everywhere(self, b, "observed")
        self.act("Enforce", "Enforce now", reason="it cannot wait")
        pin, = self.scene.json("/api/v1/pins")
        self.assertEqual((pin["feature"], pin["segment"], pin["action"], pin["reason"]), ("price", {"arm": "B"}, "route", "it cannot wait"))
        b.until_text("mitigated", "#headline .chip")
        b.until("no more to enforce", "return ![...document.querySelectorAll('#problems button')].some((e) => e.innerText === 'Enforce')")
        self.act("Unpin", "Unpin")
        b.until_text("observed", "#headline .chip")

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


class Undecodable(unittest.TestCase):
    """All messages cannot be read, then none, then some."""

    def test_none_then_some(self):
        b = kept.browser()
        with Scene(kept.assets()) as s:
            watch.begin(b)
            b.open(s.url)
            b.until_text("No data yet", "h1")
            s.mock.send([b"{"] * 60)
            b.until_text("none of the messages can be read", "h1")
            b.until_text("not ready", "#headline .chip")
            b.until_text("60 of 60 messages cannot be read", "#headline")
            watch.accessible_everywhere(self, b, "undecodable")
            s.send(400)
            b.until_text("Nothing is wrong", "h1")
            s.mock.send([b"{"] * 20)
            b.until_text("Some messages cannot be read", "#headline")
            watch.hold(self, b, s.url)
