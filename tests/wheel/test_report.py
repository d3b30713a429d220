"""The report has the findings of a replay, and shows no text of the data as markup."""
import html
import unittest
from html.parser import HTMLParser

import evenkeel
import numpy as np
from world import RULES, Arrays, Hotel


class Page(HTMLParser):
    """Tags and texts of an HTML document."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data.strip())


class Reports(Hotel):
    def report(self, *faults, rules=RULES, **more):
        words = [word for fault in faults for word in ("--fault", fault)]
        arrays = Arrays(self.generate("lists.jsonl", 1500, 6, *words))
        options = {"query": "query", "segments": ["arm", "market"], "time": "time", "item_id": "id", **more}
        frame = arrays.columns(evenkeel.Manifest(self.manifest))
        return evenkeel.Report(frame, self.manifest, self.profile, rules, **options), frame, options

    def test_its_findings_are_those_of_a_replay_also_if_they_have_ended(self):
        report, frame, options = self.report("price=x100,from=300,to=900,arm=B", "distance_center=x1.609344,from=600")
        expected = evenkeel.replay(frame, self.manifest, self.profile, RULES, **options)
        self.assertEqual(report.replay.events, expected.events)
        self.assertEqual([(f["feature"], f["segment"], f["state"] == "recovered") for f in report.findings],
                         [("price", {"arm": "B"}, True), ("distance_center", None, False)])
        texts = Page(report.html).texts
        self.assertIn("Open findings: 1 in 1,500 lists", texts)
        for finding in report.findings:
            self.assertIn(finding["text"], texts)
            self.assertIn(f"{finding['factor']:,.4g}", texts)
        self.assertIn("arm=B", texts)
        self.assertEqual(repr(report), "Report(1500 lists, 2 confirmed findings)")

    def test_each_feature_has_its_level_and_a_finding_its_start(self):
        report, frame, _ = self.report("price=x100,from=300")
        tags = Page(report.html).tags
        features = [name for name in evenkeel.Manifest(self.manifest).item_features if np.nanmax(frame[name]) > 0]
        self.assertEqual(sum(tag == "polyline" for tag, _ in tags), len(features))
        line, = [values for tag, values in tags if tag == "line"]
        since = report.findings[0]["since_list"]
        self.assertAlmostEqual(float(line["x1"]), since / 1500 * 480, delta=.1)
        rows = [row for row in report.html.split("<tr>") if row.startswith("<td>price<td>all traffic")]
        first, last = (float(cell.replace(",", "")) for cell in rows[-1].split("<td>")[3:5])
        self.assertAlmostEqual(last / first, 100, delta=25)

    def test_a_finding_of_a_query_feature_has_its_level(self):
        manifest, profile = self.watch_query("stay_nights")
        arrays = Arrays(self.generate("lists.jsonl", 1500, 6, "--fault", "stay_nights=x24,from=300"))
        frame = arrays.columns(evenkeel.Manifest(manifest))
        report = evenkeel.Report(frame, manifest, profile, RULES, query="query", segments=["arm"], time="time", item_id="id")
        self.assertEqual([(f["feature"], f["segment"]) for f in report.findings], [("stay_nights", None)])
        row, = [row for row in report.html.split("<tr>") if row.startswith("<td>stay_nights<td>all traffic") and "<svg" in row]
        first, last = (float(cell.replace(",", "")) for cell in row.split("<td>")[3:5])
        self.assertAlmostEqual(last / first, 24, delta=8)

    def test_a_notebook_shows_it_in_a_frame_without_scripts(self):
        report, _, _ = self.report()
        (tag, values), = Page(report._repr_html_()).tags
        self.assertEqual((tag, values["srcdoc"], values["sandbox"]), ("iframe", report.html, None))
        self.assertNotIn("script", [tag for tag, _ in Page(report.html).tags])
        report.save(self.path("report.html"))
        with open(self.path("report.html"), encoding="utf-8") as saved:
            self.assertEqual(saved.read(), report.html)
        self.assertIn("Open findings: 0 in 1,500 lists", Page(report.html).texts)

    def test_names_in_the_data_are_no_markup(self):
        arrays = Arrays(self.generate("lists.jsonl", 1500, 7, "--fault", "price=x100,from=300,arm=B"))
        frame = arrays.columns(evenkeel.Manifest(self.manifest))
        name = '<script>"&'
        frame["arm"] = np.where(frame["arm"] == "B", name, "A")
        report = evenkeel.Report(frame, self.manifest, self.profile, RULES, query="query", segments=["arm", "market"], time="time")
        self.assertIn(html.escape("arm=" + name), report.html)
        self.assertNotIn(name, report.html)

    def test_a_frame_without_lists_has_a_report(self):
        frame = {name: values[:0] for name, values in self.report()[1].items()}
        report = evenkeel.Report(frame, self.manifest, self.profile, query="query")
        self.assertIn("Open findings: 0 in 0 lists", Page(report.html).texts)
        self.assertIn("no values", report.html)

    def test_invalid_arguments_are_named(self):
        for call, word in ((lambda: evenkeel.Report(np.ones((3, 13)), self.manifest, self.profile, query="query"), "'data'"),
                           (lambda: self.report(query="none"), "'query'"), (lambda: self.report()[0].save(7), "'path'")):
            with self.assertRaisesRegex(ValueError, word):
                call()


if __name__ == "__main__":
    unittest.main()
