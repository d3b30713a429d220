"""Rare states: real responses of the instance with a replaced part."""
import datetime

import heard
import kept
import opened
import watch
from drawing import Scale, outline, points

PRICE = "features/price"
# A proxy responds to paths that begin with `proxied.path`. `links` has each text of the connection, `statuses` counts
# status events of the stream.
PROXY = """window.proxied = null;
window.links = [];
window.statuses = 0;
window.EventSource = class extends EventSource {
  constructor(path) {
    super(path);
    this.addEventListener('status', () => statuses++);
  }
};
const direct = window.fetch;
window.fetch = (path, options) => proxied && path.startsWith(proxied.path) ? Promise.resolve(new Response(proxied.text, {status: proxied.status})) : direct(path, options);
new MutationObserver(() => links.push(document.querySelector('#link')?.innerText || '')).observe(document, {subtree: true, childList: true});"""


class Rare(opened.Opened):
    def tearDown(self):
        watch.hold(self, self.browser, self.scene.url)

    def feature(self):
        """Return the page of price, and the instance's response."""
        self.open("#feature/price")
        self.browser.until("charts", "return document.querySelectorAll('#view svg').length === 3")
        return heard.answer(self.browser, "api/v1/" + PRICE)

    def instead(self, detail):
        """Return the page of price with that part."""
        self.browser.run("location.hash = '#feature/taxes'")
        heard.say(self.browser, **{PRICE: detail})
        self.browser.run("location.hash = '#feature/price'")

    def chart(self, css, attribute):
        return self.browser.run("return document.querySelector(arguments[0])?.getAttribute(arguments[1])", css, attribute)

    def test_an_accepted_level_is_where_training_stands(self):
        """Training bins are already at that scale, training statistics are not."""
        detail = self.feature()
        cell = kept.cell_of(detail, kept.ARM_B)
        cell["current"] |= {"accepted": 10.0, "scale_ratio": 1.01}
        self.instead(detail)
        self.browser.until_text("\u00d71.01 of \u00d710", "#cells")
        self.browser.until_text("training, \u00d710 as accepted", "#feature-shape .legend")
        edges, _ = outline(self.chart("#feature-shape .bins.current", "d"))
        bins = cell["histogram"]["bins"]
        axis = Scale((edges[0], bins[0]["low"]), (edges[-1], bins[-1]["high"]), log=True)
        self.assertAlmostEqual(float(self.chart("#feature-shape .median.training", "x1")), axis.pixel_of(10 * detail["training"]["p50"]), delta=0.11)
        self.assertIn(f"with median {10 * detail['training']['p50']:,.0f};", self.chart("#feature-shape svg", "aria-label"))

    def test_a_mark_at_the_end_of_the_axis_is_not_cut(self):
        detail = self.feature()
        bins = kept.cell_of(detail, kept.ARM_B)["histogram"]["bins"]
        for i, one in enumerate(bins):
            one["low"], one["high"] = (10 ** (1 + 4 * k / len(bins)) for k in (i, i + 1))
        self.instead(detail)
        self.browser.until("the last mark", "return [...document.querySelectorAll('#feature-shape .tick')].some((e) => e.textContent === '100,000')")
        right, end = self.browser.run("const svg = document.querySelector('#feature-shape svg');"
                                      "return [svg.getBoundingClientRect().right, Math.max(...[...svg.querySelectorAll('text')].map((e) => e.getBoundingClientRect().right))]")
        self.assertLessEqual(end, right)
        self.addCleanup(self.browser.look, 1280, 900)
        self.browser.look(375, 900)
        self.browser.until("as wide as the phone", "return document.querySelector('#feature-shape svg').getBoundingClientRect().right <= 375")
        places = self.browser.run("return [...document.querySelectorAll('#feature-shape .tick[text-anchor=middle], #feature-shape .tick[text-anchor=end]')]"
                                  ".map((e) => e.getBoundingClientRect()).filter((r, i, all) => r.top === all[0].top).map((r) => [r.left, r.right])")
        self.assertGreater(len(places), 1)
        for (_, before), (left, _) in zip(places, places[1:]):
            self.assertLess(before + 2, left)

    def test_marks_of_negative_values_have_their_words(self):
        detail = self.feature()
        bins = kept.cell_of(detail, kept.ARM_B)["histogram"]["bins"]
        for i, one in enumerate(bins):
            one["low"], one["high"] = (-10 ** (5 - 4 * k / len(bins)) for k in (i, i + 1))
        self.instead(detail)
        self.browser.until("negative marks", "return ['-10', '-100', '-1,000', '-10,000'].every((text) => [...document.querySelectorAll('#feature-shape .tick')]"
                           ".some((e) => e.textContent.replace('\u2212', '-') === text))")

    def test_a_finding_without_samples_is_no_lack_of_evidence(self):
        detail = self.feature()
        history = kept.cell_of(detail, kept.ARM_B)["history"]
        for column in [name for name, value in history.items() if isinstance(value, list)]:
            history[column] = history[column][:1]
        self.instead(detail)
        self.browser.until_text("Not drawn yet: a sample is taken each second with lists.", "#feature-story")

    def test_estimates_of_two_episodes_are_not_joined(self):
        detail = self.feature()
        track = kept.cell_of(detail, kept.ARM_B)["history"]
        gap = [i for i, v in enumerate(track["factor"]) if v is not None][1]
        for column in ("factor", "factor_low", "factor_high"):
            track[column][gap] = None
        self.instead(detail)
        line, band = (f"#feature-story .factor .{part}" for part in ("line", "band"))
        self.browser.until("two lines", "return (document.querySelector(arguments[0])?.getAttribute('d').match(/M/g) || []).length === 2", line)
        alone, after = points(self.chart(line, "d"))
        self.assertEqual(len(alone), 1)
        self.assertEqual([float(self.chart(f"#feature-story .factor .{part}", name)) for part, name in (("whisker", "x1"), ("point", "cx"))], [alone[0][0]] * 2)
        self.assertIn("h0M", self.chart(line, "d"))  # a dot
        run, = points(self.chart(band, "d"))
        self.assertEqual({x for x, _ in run}, {x for x, _ in after})

    def test_of_a_long_list_it_says_what_is_not_kept(self):
        self.feature()
        path = "samples?feature=price"
        answer = heard.answer(self.browser, "api/v1/" + path)
        answer["lists"][0]["items_total"] = 60
        self.browser.run("location.hash = '#feature/taxes'")
        heard.say(self.browser, **{path: answer})
        self.browser.run("location.hash = '#feature/price'")
        kept_items = len(answer["lists"][0]["items"])
        self.browser.until_text(f"The first 10 of 60 items. The first {kept_items} items of a list are stored", "#feature-samples")

    def test_a_model_that_drifted(self):
        """With the keys of a real response."""
        model = self.scene.json("/api/v1/status")["model"]
        figures = {"tau": (0.8536, 0.9376, 0.8958), "ndcg@10": (0.9525, 0.9833, 0.9627), "top1": (0.7872, 0.8967, 0.8081)}
        self.assertEqual((set(model["statistics"]), {key for f in model["statistics"].values() for key in f}), (set(figures), {"current", "reference", "threshold"}))
        self.assertIn(model["state"], ("unknown", "holds"))
        self.open("")
        self.assertNotIn("no longer agree", self.browser.text("#headline"))
        heard.say(self.browser, status={"model": {**model, "state": "drifted", "statistics": {
            name: dict(zip(("current", "reference", "threshold"), values)) for name, values in figures.items()}}})
        self.browser.until_text("Model and upstream no longer agree", "h1")
        said = self.browser.text("#headline")
        for part in ("Kendall tau is 0.854 (reference 0.938)", "NDCG@10 under the upstream order 0.953 (reference 0.983)",
                     "the first item is the same in 79% (reference 90%)"):
            self.assertIn(part, said)
        self.assertIn("price in arm=B is", self.browser.text("#problems"))  # next to the finding
        heard.say(self.browser, status={"model": {**model, "state": "holds"}})
        self.browser.until("it is over", "return !document.querySelector('#headline').innerText.includes('no longer agree')")

    def test_not_ready_and_why(self):
        self.open("")
        real = self.scene.json("/ready")
        self.assertEqual(real, {"ready": True, "partitions": 1, "missing_topics": [], "degraded": None, "reason": None, "input": "ok", "conditions": []})
        for reason, more, words in (("no_broker", {"message": "127.0.0.1:1: refused"}, "Not ready: no broker answers"),
                                    ("credentials", {"message": "not this one"}, "Not ready: brokers reject its user or password"),
                                    ("topic_missing", {"missing_topics": ["scored", "others"]}, "Not ready: an input topic is missing (scored and others)"),
                                    ("no_partitions", {"partitions": 0}, "Not ready: it has no partition to read"),
                                    ("undecodable", {"message": "50 of 50 messages cannot be read"}, "Not ready: none of the messages can be read"),
                                    ("stalled", {"message": "no output for 12 s"}, "Not ready: nothing comes out although the input has more")):
            heard.say(self.browser, ready={**real, "ready": False, "reason": reason, **more})
            self.browser.until_text(words, "h1")
            self.browser.until_text("not ready", "#headline .chip")
            self.browser.until_text(more.get("message", "No messages are read"), "#headline")
            self.assertIn("price in arm=B is", self.browser.text("#problems"))
        heard.say(self.browser)
        self.browser.until_text("mitigated", "#headline .chip")

    def test_an_input_that_is_silent_hides_neither_findings_nor_a_pause(self):
        self.open("")
        silent = {"state": "silent", "conditions": [{"condition": "silent", "text": "no message for 78 s"}]}
        heard.say(self.browser, status={"input": silent})
        self.browser.until_text("The input is silent", "#headline")
        self.assertIn("price in arm=B is", self.browser.text("h1"))
        partly = {"state": "partly_undecodable", "conditions": [{"condition": "partly_undecodable", "text": "11 of 101 messages cannot be read"}]}
        heard.say(self.browser, status={"input": partly})
        self.browser.until_text("Some messages cannot be read", "#headline")
        self.assertIn("price in arm=B is", self.browser.text("h1"))
        heard.say(self.browser, status={"input": silent, "paused": {"actor": "ana", "since_ms": 1, "reason": None}})
        self.browser.until_text("Paused by ana", "h1")
        self.assertIn("The input is silent. No message for 78 s.", self.browser.text("#headline"))
        heard.say(self.browser)
        self.browser.until("it goes on", "return !document.querySelector('#headline').innerText.includes('silent')")

    def test_without_output_and_model_nothing_is_enforced_or_measured(self):
        self.open("")
        price = {**heard.answer(self.browser, "api/v1/findings")[0], "mode": "observe"}
        observed = {"findings": [price], "plan": {"entries": []}, "impact": {"routes": []}}
        heard.say(self.browser, **observed)
        self.browser.until_text("Not measured: shadow scoring requires mode shadow, canary or enforce.", "#problems")
        self.assertIn("Enforce", self.browser.texts("#problems button"))
        self.assertRegex(self.browser.text("#problems .counts"), r"[\d,]+ changed")
        heard.say(self.browser, status={"model": None}, **observed)
        self.browser.until_text("Not measured: shadow scoring needs a model.", "#problems")
        heard.say(self.browser, status={"output": None, "model": None}, **observed)
        self.browser.until("it has no effect", "return !document.querySelector('#problems').innerText.includes('If routed')")
        self.browser.until_text("Observed only: this instance has no output.", "#problems")
        self.assertEqual(self.browser.texts("#problems button"), ["Accept as normal", "Pin"])
        heard.say(self.browser, status={"limits": [{"limit": "repeats", "text": "90% of the lists repeat"}]}, **{**observed, "findings": [{**price, "blocked_by": "max_routed_features"}]})
        self.browser.until_text("Observed only: the limit max_routed_features is reached.", "#problems")
        self.browser.until_text("Limit repeats was reached: 90% of the lists repeat.", "#problems")
        heard.say(self.browser, **{**observed, "findings": [{**price, "no_model": True}]})
        self.browser.until_text("Nothing: there is no model.", "#problems")
        self.assertEqual(self.browser.texts("#problems button"), ["Accept as normal", "Pin"])

    def test_a_finding_without_a_plan_entry_is_only_observed(self):
        """With `on_limit: keep` the mode of a finding beyond the limit stays enforce."""
        self.open("")
        price = heard.answer(self.browser, "api/v1/findings")[0]
        self.assertEqual(price["mode"], "enforce")
        for blocked_by, words in ((None, "output unchanged"), ("max_routed_features", "the limit max_routed_features is reached")):
            heard.say(self.browser, findings=[{**price, "blocked_by": blocked_by}], plan={"entries": []}, impact={"routes": []})
            self.browser.until_text(f"Observed only: {words}.", "#problems")
            self.browser.until_text("observed", "#headline .chip")
            self.assertEqual(self.browser.run("return document.querySelector('#problems .card').className"), "card confirmed")
            self.assertEqual(self.browser.texts("#problems button"), ["Enforce", "Accept as normal", "Pin"])
            self.assertEqual(self.browser.texts("#features tbody tr:first-child td:last-child"), ["observe"])

    def test_without_the_segments_of_the_rules_no_list_is_changed(self):
        self.open("")
        for unmapped, words, level in (("segment arm, time", "Nothing until lists have the segments that the rules name.", "confirmed"), ("time", "Routed: ", "mitigated")):
            heard.say(self.browser, status={"input": {"state": "unmapped", "unmapped": unmapped, "conditions": [{"condition": "unmapped", "text": f"no list has it: {unmapped}"}]}})
            self.browser.until_text(f"No list has it: {unmapped}.", "#headline")
            self.browser.until_text(words, "#problems")
            self.assertEqual(self.browser.run("return document.querySelector('#problems .card').className"), f"card {level}")
            self.assertEqual(self.browser.text("#problems .card .chip"), "unmapped" if level == "confirmed" else "mitigated")

    def test_a_route_in_shadow_is_not_still_routed(self):
        self.open("")
        entry, = heard.answer(self.browser, "api/v1/plan")["entries"]
        for mode, words in (("enforce", "Still routed: price in arm=B."), ("shadow", "No feature has a finding, and no list is changed.")):
            heard.say(self.browser, findings=[], plan={"entries": [{**entry, "mode": mode}]})
            self.browser.until_text(words, "#headline")

    def proxy(self, responds):
        self.browser.run("window.proxied = arguments[0]; links.length = 0; delete heard['api/v1/findings']; dispatchEvent(new Event('online'))", responds)

    def test_the_response_of_a_proxy_is_a_lost_connection(self):
        """Until the instance responds, whatever its stream sends."""
        b = self.browser
        with b.before(PROXY):
            self.open("")
            for status, text in ((404, "<h1>Not found</h1>"), (200, "<h1>Log in</h1>"), (404, '{"error": "no such route"}')):
                self.proxy({"path": "api/v1/findings", "status": status, "text": text})
                b.until_text("Connection lost. Data as of", "#link")
                b.run("links.length = statuses = 0")
                self.scene.send(1)
                b.until("a status", "return statuses")
                self.assertEqual([text for text in b.run("return links") if text and "lost" not in text], [])
                self.assertIn("price in arm=B is", b.text("h1"))
                self.proxy(None)
                b.until("connected", "return heard['api/v1/findings'] && !document.querySelector('#link').innerText.includes('lost')")
                self.assertIn("price in arm=B is", b.text("h1"))

    def test_a_proxy_in_front_of_all_calls_shows_no_state(self):
        b = self.browser
        with b.before(PROXY), b.before("proxied = {path: 'api/', status: 200, text: 'Log in'};"
                                       "window.states = []; new MutationObserver(() => states.push(document.querySelector('h1')?.innerText)).observe(document, {subtree: true, childList: true});"):
            b.open("about:blank")
            b.open(self.scene.url)
            b.until_text("api/v1/", "#link")
            b.until("a status", "return statuses")
            self.assertNotIn("Nothing is wrong", b.run("return states"))
            self.assertEqual(b.text("h1"), "The instance does not respond")
            self.proxy(None)
            b.until_text("price in arm=B is", "h1")

    def test_the_hour_in_words_has_the_last_complete_minute(self):
        self.open("")
        now = self.browser.run("const now = Date.now(); Date.now = () => now; return now")
        from_ms = (now // 60000 - 59) * 60000
        heard.say(self.browser, status={"traffic": {"from_ms": from_ms, "lists": [0] * 58 + [600, 6]}})
        label = "return document.querySelector('#hour svg').getAttribute('aria-label').includes(arguments[0])"
        self.browser.until("the last complete minute", label, "last complete minute 10, at most 10.")

    def test_where_commands_are_rejected_the_remedy_takes_the_place_of_the_buttons(self):
        b = self.browser
        self.assertEqual(self.scene.json("/api/v1/status")["commands"], "accepted")
        for commands, state, words in (("no_token_file", None, "Commands are disabled: set http.token_file and restart, which loses findings and routes without state.topic."),
                                       ("no_token_file", {"losses": 0}, "Commands are disabled: set http.token_file and restart."),
                                       ("read_only", None, "This process accepts no commands; evenkeel run with http.token_file does.")):
            for page, place in (("", "#problems"), ("#feature/price", "#feature-head"), ("#plan", "#view")):
                self.open(page)
                b.until("a button", "return document.querySelector(`${arguments[0]} button`) && document.querySelector('#acts button')", place)
                self.assertNotIn(words, b.text())
                heard.say(b, status={"commands": commands, "state": state})
                b.until_text(words, place)
                b.until("no command", "return !document.querySelector('#acts button, #problems button, #feature-head button, #view.plan button')")
                self.assertEqual(b.text().count(words), 1)
        watch.accessible_everywhere(self, b, "read only")

    def test_the_lists_of_an_incident_that_returned_begin_with_it(self):
        self.open("")
        one, = heard.answer(self.browser, "api/v1/incidents")
        heard.say(self.browser, incidents=[{**one, "times": 3}])
        self.browser.until_text("; began 3 times since ", "#problems .since")
        self.browser.until_text(f", {one['lists']:,} lists of all traffic so far", "#problems .since")
        began, since = self.browser.run("return [...document.querySelectorAll('#problems .since time')].map((e) => e.title)")[::-1]
        self.assertEqual(began, datetime.datetime.fromtimestamp(one["from_ms"] / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC"))
        self.assertLessEqual(began, since)

    def test_the_hour_is_as_wide_as_the_page_at_once_and_has_each_word_once(self):
        self.open("")
        one, = heard.answer(self.browser, "api/v1/incidents")
        self.browser.run("const hour = document.querySelector('#hour'); window.widths = [];"
                         "new MutationObserver(() => { const svg = hour.querySelector('svg'); if (svg) widths.push(Number(svg.getAttribute('width'))); })"
                         ".observe(hour, {childList: true}); hour.replaceChildren();")
        heard.say(self.browser, incidents=[one, {**one, "sequence": 2}, {**one, "sequence": 3}])
        self.browser.until("drawn again", "return widths.length")
        first, wide = self.browser.run("return [widths[0], document.querySelector('#headline').clientWidth]")
        self.assertEqual(first, wide)
        self.browser.until("three incidents", "return document.querySelectorAll('#hour .span').length === 3")
        words = ", ".join(self.browser.run("return [...document.querySelectorAll('#hour text')].map((e) => e.textContent).filter((t) => /[a-z]{3}/.test(t))"))
        self.assertEqual((words.count("began"), words.count("mitigated")), (1, 1), words)

    def test_long_names_wrap(self):
        b, arm = self.browser, {"experiment_arm_of_the_request": "experiment_of_the_pricing_team_2026_q4_with_dynamic_packaging_B"}
        names = [f"request.context.supplier.normalized_total_price_including_taxes_and_fees_per_night_{i:03}" for i in range(7)]
        self.feature()
        detail, price = heard.answer(b, "api/v1/" + PRICE), heard.answer(b, "api/v1/findings")[0]
        self.open("#plan")
        b.until("rows", "return document.querySelector('#view tbody')")
        entry, incident = heard.answer(b, "api/v1/plan")["entries"][0], heard.answer(b, "api/v1/incidents")[0]
        kept.cell_of(detail, kept.ARM_B)["segment"] = arm
        long, last = {"feature": names[0], "segment": arm}, self.scene.json("/api/v1/history")[-1]["sequence"]
        pin = {**long, "action": "none", "until_ms": None, "actor": "ana", "source": "operator", "reason": "x" * 200}
        said = {"findings": [{**price, **long, "features": names}], "plan": {"version": 1, "entries": [{**entry, **long}]}, "pins": [pin],
                "incidents": [{**incident, **long, "features": names}], "accepts": [{**long, "version": 1, "factor": 2, "time_ms": 1, "actor": "ana", "reason": "y" * 200}],
                f"history?n=1000&after={last}": [{**long, "sequence": last + 1, "time_ms": 1, "type": "route", "reason": "z" * 200}], "features": {"features": [
                    {"feature": name, "report_threshold": 1.1, "training": detail["training"], "current": None, "most_shifted_segment": {"segment": arm, "current": detail["segments"][0]["current"]}} for name in names]},
                "features/" + names[0]: {**detail, "feature": names[0]}}
        for page, words in (("", "6 other features"), ("#plan", "x" * 200), ("#incidents", "and 3 more"), ("#history", "z" * 200), ("#feature/" + names[0], "Distribution in experiment_arm")):
            self.open(page)
            heard.say(b, **said)
            b.until_text(words)
            watch.accessible_everywhere(self, b, f"long names, {page}")
            self.addCleanup(b.look, 1280, 900)
            b.look(800, 900)
            b.until("nothing is cut", "return document.documentElement.scrollWidth <= 800 && ![...document.querySelectorAll('.wide, .panel')].some((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth)")

    def test_each_feature_of_an_incident_has_its_own_effect(self):
        self.open("")
        price = {**heard.answer(self.browser, "api/v1/findings")[0], "incident_id": 7, "features": ["price", "taxes"]}
        taxes = {**price, "feature": "taxes", "class": "missing", "factor": None, "factor_low": None, "factor_high": None, "unit_matches": [],
                 "text": "taxes, arm=B: missing in 100% of the values, 2% in training, since list 9; action: alert"}
        heard.say(self.browser, findings=[price, taxes])
        self.browser.until_text("and with it taxes", "h1")
        self.assertIn("price in arm=B is ×100 (", self.browser.text("h1"))
        self.assertEqual(self.browser.run("return document.querySelector('.card').dataset.feature"), "price")
        self.assertIn("With it\ntaxes.", self.browser.text(".card"))
        heard.say(self.browser)
        self.browser.until("it goes on", "return !document.querySelector('h1').innerText.includes('taxes')")
