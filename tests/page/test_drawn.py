"""Charts of a feature's page equal the API's values, converted back from pixels."""
import math
import re
import unittest

import heard
import kept
import watch
from drawing import Scale, outline, points
from words import percent, place, three, written

PRICE = "api/v1/features/price"
PIXEL = 0.11  # coordinates have one decimal


def half_digit(x):
    """Return half a unit of the third significant digit of x."""
    return 0.5 * 10 ** (math.floor(math.log10(x)) - 2)


MINUTE = 60_000


class Hour(unittest.TestCase):
    """The last hour of the first page."""

    @classmethod
    def setUpClass(cls):
        cls.scene, cls.browser = kept.found(), kept.browser()
        watch.begin(cls.browser)
        cls.enterClassContext(cls.browser.before(heard.SCRIPT))
        cls.browser.open(cls.scene.url)
        cls.browser.until("the hour and the features", "return document.querySelector('#hour svg') && heard['api/v1/features'] && document.querySelector('#features tbody tr')")

    def drawn(self, css, *names):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((e) => arguments[1].map((n) => parseFloat(e.getAttribute(n))))", css, list(names))

    def test_bars_are_the_lists_of_each_minute(self):
        status = heard.answer(self.browser, "api/v1/status")
        lists = [n for n in status["traffic"]["lists"] if n]
        self.assertLessEqual(sum(lists), status["observed_lists"])  # counted once per second
        self.assertGreater(sum(lists), .8 * status["observed_lists"])
        heights = [h for h, in self.drawn("#hour .bar", "height")]
        for height, count in zip(heights, lists, strict=True):
            self.assertAlmostEqual(height, max(heights) * count / max(lists), delta=2 * PIXEL)
        label = self.browser.run("return document.querySelector('#hour svg').getAttribute('aria-label')")
        most = float(re.search(r"at most ([\d.]+)\. ", label).group(1))
        self.assertAlmostEqual(most, max(lists) / 60, delta=.01 * most)  # of three digits

    def test_an_incident_has_its_times(self):
        incident, = heard.answer(self.browser, "api/v1/incidents")
        traffic = heard.answer(self.browser, "api/v1/status")["traffic"]
        minutes = [traffic["from_ms"] + i * MINUTE for i, n in enumerate(traffic["lists"]) if n]
        bars = [x for x, in self.drawn("#hour .bar", "x")]
        across = Scale((bars[0], minutes[0]), (bars[-1], minutes[-1])) if len(bars) > 1 else None
        onset, = self.drawn("#hour .mark.onset", "x1")
        acted, = self.drawn("#hour .mark.acted", "x1")
        if across:
            self.assertAlmostEqual(onset[0], across.pixel_of(incident["from_ms"]), delta=3 * PIXEL)
            self.assertAlmostEqual(acted[0], across.pixel_of(incident["mitigated_ms"]), delta=3 * PIXEL)
        self.assertEqual(self.drawn("#hour .span.mitigated", "x"), [onset])
        self.assertIn("price in arm=B began at ", self.browser.run("return document.querySelector('#hour svg').getAttribute('aria-label')"))

    def test_a_level_is_drawn_with_its_band(self):
        features = {f["feature"]: f for f in heard.answer(self.browser, "api/v1/features")["features"]}
        price = features["price"]
        history = price.get("levels") or price["most_shifted_segment"]["levels"]
        levels = [v for v in history["level"] if v] if history else []
        if len(levels) < 2:  # a line needs two minutes
            self.assertFalse(self.drawn("#features .spark .line", "d"))
            return
        label = self.browser.run("return [...document.querySelectorAll('#features tbody tr')].find((r) => r.cells[0].innerText === 'price').querySelector('.spark').getAttribute('aria-label')")
        self.assertEqual(label, f"Level over the last hour: from \u00d7{three(min(levels))} to \u00d7{three(max(levels))}, last \u00d7{three(levels[-1])}; reported beyond \u00d7{three(price['report_threshold'])}")


class Drawn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene, cls.browser = kept.found(), kept.browser()
        watch.begin(cls.browser)
        cls.enterClassContext(cls.browser.before(heard.SCRIPT))
        cls.browser.open(cls.scene.url + "#feature/price")
        cls.browser.until("charts", "return document.querySelectorAll('#view svg').length === 3")

    def setUp(self):
        self.detail = heard.answer(self.browser, PRICE)
        self.cell = kept.cell_of(self.detail, kept.ARM_B)
        self.finding, = (f for f in self.scene.json("/api/v1/findings") if f["feature"] == "price")

    def drawn(self, css):
        """Return attributes and text of a chart's elements, in order."""
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((e) => ({...Object.fromEntries("
                                "[...e.attributes].map((a) => [a.name, a.value])), text: e.textContent}))", css)

    def one(self, css):
        found, = self.drawn(css)
        return found

    def ticks(self, chart, anchor):
        return [t for t in self.drawn(f"{chart} .tick") if t["text-anchor"] == anchor]

    def test_bars_are_the_shares(self):
        bins = self.cell["histogram"]["bins"]
        most = max(max(b["training"], b["current"]) for b in bins)
        heights = {}
        for side in ("training", "current"):
            edges, heights[side] = outline(self.one(f"#feature-shape .bins.{side}")["d"])
            width = (edges[-1] - edges[0]) / len(bins)
            for i, edge in enumerate(edges):
                self.assertAlmostEqual(edge, edges[0] + i * width, delta=PIXEL)
        top = max(heights["training"] + heights["current"])
        for side, tall in heights.items():
            for height, b in zip(tall, bins, strict=True):
                self.assertAlmostEqual(height, top * b[side] / most, delta=2 * PIXEL, msg=(side, b))
        self.assertEqual({t["text"] for t in self.ticks("#feature-shape", "end") if float(t["x"]) < edges[0]}, {percent(most), "0"})

    def axis(self):
        """Logarithmic, from the lower edge of the first bin to the upper edge of the last."""
        edges, _ = outline(self.one("#feature-shape .bins.current")["d"])
        bins = self.cell["histogram"]["bins"]
        return Scale((edges[0], bins[0]["low"]), (edges[-1], bins[-1]["high"]), log=True)

    def test_the_axis_is_logarithmic(self):
        axis, marks = self.axis(), self.ticks("#feature-shape", "middle")
        self.assertGreater(len(marks), 2)
        for mark in marks:
            self.assertAlmostEqual(float(mark["x"]), axis.pixel_of(written(mark["text"])), delta=2 * PIXEL, msg=mark["text"])

    def test_the_shift_is_the_factor(self):
        axis, normal, factor = self.axis(), self.detail["training"]["p50"], self.finding["factor"]
        before, now, shift = (self.one(f"#feature-shape {css}") for css in (".median.training", ".median.current", ".shift"))
        self.assertAlmostEqual(float(before["x1"]), axis.pixel_of(normal), delta=PIXEL)
        self.assertAlmostEqual(float(now["x1"]), axis.pixel_of(normal * factor), delta=PIXEL)
        self.assertEqual((shift["x1"], shift["x2"]), (before["x1"], now["x1"]))
        self.assertEqual(self.one("#feature-shape .shift-word")["text"], "\u00d7" + three(factor))
        label = self.one("#feature-shape svg")["aria-label"]
        for figure in (normal, self.cell["current"]["p25"], self.cell["current"]["p75"]):
            self.assertIn(f" {three(figure)}" if figure < 1000 else f" {figure:,.0f}", label)

    def test_the_same_as_a_table(self):
        rows = self.browser.run("return [...document.querySelectorAll('#feature-shape tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
        for (low, high, *shares), b in zip(rows, self.cell["histogram"]["bins"], strict=True):
            for text, value in ((low, b["low"]), (high, b["high"])):
                self.assertAlmostEqual(written(text), value, delta=0.006 * value)
            self.assertEqual(shares, [percent(b["training"]), percent(b["current"])])

    def across(self, times):
        """From the left end of the axis to the right one."""
        axis = self.one("#feature-story .factor svg > .axis:first-of-type")
        left, right = float(axis["x1"]), float(axis["x2"])
        return Scale((left, times[0]), (right, times[-1]))

    def test_evidence_over_time_with_the_alarm(self):
        chart, track = "#feature-story .evidence", self.cell["history"]
        alarm, floor = self.one(f"{chart} .alarm"), float(self.drawn(f"{chart} .axis")[0]["y1"])
        known = [(t, v) for t, v in zip(track["time_ms"], track["evidence_ln"]) if v is not None]
        up = Scale((floor, min(0, *(v for _, v in known))), (float(alarm["y1"]), track["alarm_ln"]))
        line = [p for run in points(self.one(f"{chart} .line")["d"]) for p in run]
        across = self.across(track["time_ms"])
        self.assertGreater(max(v for _, v in known), track["alarm_ln"])
        for (x, y), (time_ms, value) in zip(line, known, strict=True):
            self.assertAlmostEqual(x, across.pixel_of(time_ms), delta=PIXEL)
            self.assertAlmostEqual(y, up.pixel_of(value), delta=3 * PIXEL)
        self.assertEqual(self.one(f"{chart} .alarm-word")["text"], f"alarm at {three(track['alarm_ln'])}")
        self.assertFalse(self.browser.run("return document.querySelector(arguments[0]).closest('details').open", chart))

    def test_times_are_round_and_in_their_places(self):
        """Marks at multiples of a step of the clock."""
        times = self.cell["history"]["time_ms"]
        across, marks = self.across(times), self.drawn("#feature-story .factor .tick[y='157']")
        self.assertGreater(len(marks), 1)
        seconds = [sum(int(n) * unit for n, unit in zip(m["text"].split(":"), (3600, 60, 1))) for m in marks]
        step = seconds[1] - seconds[0]
        self.assertIn(step % 86400, (1, 2, 5, 10, 15, 30, 60, 120, 300))
        axis = self.drawn("#feature-story .factor .axis")[1:]
        for mark, line, second in zip(marks, axis, seconds, strict=True):
            self.assertEqual(second % step, 0)
            time_ms = across.at(float(line["x1"]))
            self.assertAlmostEqual(time_ms / 1000 % step, step * round(time_ms / 1000 % step / step), delta=0.02 * step, msg=mark["text"])

    def test_the_unit_has_a_line_among_the_estimates(self):
        unit, = (u for u in self.finding["unit_matches"] if u["match"] != "coincidence")
        self.assertEqual((unit["unit"], unit["ratio"]), ("cents", 100))
        self.assertEqual(self.one("#feature-story .factor .unit-word")["text"], "\u00d7100 cents")
        self.assertIn("cents is 100", self.one("#feature-story .factor svg")["aria-label"])

    def test_estimate_over_time_with_its_interval(self):
        chart, track = "#feature-story .factor", self.cell["history"]
        marks = {written(t["text"]): line for t, line in zip([t for t in self.ticks(chart, "end") if t["text"][0] == "\u00d7"], self.drawn(f"{chart} .grid, {chart} .one"), strict=True)}
        low, high = min(marks), max(marks)
        self.assertLess(low, high)
        up = Scale((float(marks[low]["y1"]), low), (float(marks[high]["y1"]), high), log=True)
        seen = [i for i, v in enumerate(track["factor"]) if v is not None]
        self.assertGreaterEqual(len(seen), kept.ESTIMATES)
        line, = points(self.one(f"{chart} .line")["d"])
        band, = points(self.one(f"{chart} .band")["d"])
        # A mark is rounded to three digits and drawn at its unrounded place.
        rounded = PIXEL + max(abs(up.pixel_of(m + half_digit(m)) - up.pixel_of(m)) for m in marks)
        across = self.across(track["time_ms"])
        wanted = [(i, track["factor"][i]) for i in seen] + [(i, track["factor_high"][i]) for i in seen] + [(i, track["factor_low"][i]) for i in reversed(seen)]
        for (x, y), (i, value) in zip(line + band, wanted, strict=True):
            self.assertAlmostEqual(x, across.pixel_of(track["time_ms"][i]), delta=PIXEL)
            self.assertAlmostEqual(y, up.pixel_of(value), delta=rounded)

    def test_segments_side_by_side(self):
        rows = self.browser.run("return [...document.querySelectorAll('#cells tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
        training, cells = self.detail["training"], {place(c["segment"]): c["segment"] for c in self.detail["segments"]}
        self.assertEqual(set(cells), {"all traffic", "arm=A", "arm=B"})
        self.assertEqual([row[0] for row in rows], ["in training", *cells])
        for name, lists, level, _, missing, *quantiles in rows:
            view = training if name == "in training" else kept.cell_of(self.detail, cells[name])["current"]
            self.assertEqual(missing, percent(view["missing"]))
            for text, value in zip(quantiles, (view["p5"], view["p50"], view["p95"]), strict=True):
                self.assertAlmostEqual(written(text), value, delta=0.006 * value, msg=(name, text))
            if view is not training:
                self.assertEqual(lists, f"{view['lists']:,}")
                self.assertAlmostEqual(written(level), view["scale_ratio"], delta=0.006 * view["scale_ratio"])

    def test_lists_before_and_after(self):
        lists = heard.answer(self.browser, "api/v1/samples?feature=price")["lists"]
        shown = self.browser.run("return [...document.querySelectorAll('#feature-samples details')].map((d) => [d.querySelector('summary').textContent,"
                                 "[...d.querySelectorAll('table')].map((t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent)))])")
        self.assertEqual(len(shown), len(lists))
        for (summary, (before, after)), sample in zip(shown, lists):
            self.assertTrue(summary.startswith(sample["query_id"]))
            self.assertIn("forwarded in the order of the plan" if sample["acting"] else "not changed", summary)
            self.rows(before, sample, "upstream_rank")
            self.rows(after, sample, "plan_rank")
            moves = {i["id"]: i["upstream_rank"] - i["plan_rank"] for i in sample["items"]}
            for _, name, _, move in after:
                arrow = "\u2191" if moves[name] > 0 else "\u2193"
                self.assertEqual(move, f"{arrow}{abs(moves[name])}" if moves[name] else "")

    def rows(self, rows, sample, rank):
        items = sorted((i for i in sample["items"] if i[rank]), key=lambda i: i[rank])[:10]
        self.assertEqual([(int(row[0]), row[1]) for row in rows], [(i[rank], i["id"]) for i in items])
        for row, item in zip(rows, items):
            self.assertAlmostEqual(written(row[2]), item["value"], delta=0.006 * abs(item["value"]))

    def test_on_a_phone_no_letter_is_cut_off(self):
        b = self.browser
        self.addCleanup(b.look, 1280, 900)
        b.look(320, 720)
        b.until("charts as wide as the phone", "return [...document.querySelectorAll('#view svg')].every((s) => s.getBoundingClientRect().right <= innerWidth - 8)")
        cut = b.run("""return [...document.querySelectorAll('#view svg')].flatMap((chart) => {
            const whole = chart.getBoundingClientRect(), texts = [...chart.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
            const out = texts.filter(([, r]) => r.left < whole.left - 1 || r.right > whole.right + 1 || r.top < whole.top - 1 || r.bottom > whole.bottom + 1);
            const over = texts.filter(([, r], i) => texts.some(([, o], j) => j < i && r.left < o.right && o.left < r.right && r.top + 3 < o.bottom && o.top + 3 < r.bottom));
            return [...out, ...over].map(([text]) => text);
        })""")
        self.assertEqual(cut, [])
        self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), 320)
