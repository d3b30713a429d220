"""Commands on the page take effect, and rejected ones show the API's message."""
import datetime
import unittest

import kept
import watch
from scene import TOKEN
from words import place, three

# Requests of a path that begins with `held` wait for `release()`.
SLOW = """window.held = null;
window.answered = 0;
const real = window.fetch;
window.fetch = async (path, options) => {
  if (!held || !path.startsWith(held)) return real(path, options);
  await new Promise((go) => { window.release = go; });
  const answer = await real(path, options);
  answered++;
  return answer;
};"""
LOGIN = """const through = window.fetch;
window.fetch = (path, options) => options?.method ? Promise.resolve(new Response('Log in', {status: 200})) : through(path, options);"""


class Acts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene, cls.browser = kept.found(), kept.browser()
        watch.begin(cls.browser)

    def setUp(self):
        self.browser.open(self.scene.url + "#plan")
        self.browser.until_text("Actions")

    def tearDown(self):
        watch.hold(self, self.browser, self.scene.url)

    def begin(self, button, **fields):
        self.browser.until(f"a button '{button}'", "const b = [...document.querySelectorAll('#acts button, #view button, #problems button')].find((e) => e.innerText.startsWith(arguments[0]));"
                           "b?.click(); return b && document.querySelector('#dialog').open", button)
        for name, text in fields.items():
            self.fill(name, text)

    def fill(self, name, text):
        self.browser.run("const e = document.querySelector('#dialog').querySelector(`[name=${arguments[0]}]`); e.value = arguments[1]", name, text)

    def send(self, text, where="#dialog"):
        if self.browser.run("return Boolean(document.querySelector('#dialog [name=token]'))"):
            self.fill("token", TOKEN)
        self.browser.click("#dialog [type=submit]")
        self.browser.until_text(text, where)

    def close(self):
        self.browser.click("#dialog button")
        self.assertFalse(self.browser.run("return document.querySelector('#dialog').open"))

    def test_a_wrong_token_is_asked_for_again(self):
        b = self.browser
        b.run("sessionStorage.clear()")
        self.begin("Pause", reason="odd")
        b.until_text("no list is changed", "#dialog")
        watch.accessible(self, b, "dialog")
        self.fill("token", "a-token-that-is-wrong")
        b.click("#dialog [type=submit]")
        b.until_text("the token is not in 'http.token_file'", "#dialog [role=alert]")
        self.assertIsNone(self.scene.json("/api/v1/status")["paused"])
        self.send("Paused.")
        self.assertEqual(self.scene.json("/api/v1/status")["paused"]["reason"], "odd")
        self.assertEqual(b.run("return localStorage.length"), 0)
        self.close()
        b.until_text("Paused by ana: no list is changed", "h1")
        b.until_text("price in arm=B is", "#headline")  # the other notice, in short
        b.open(self.scene.url)
        b.until_text("odd", "#headline")
        b.until_text("Nothing while the instance is paused", "#problems")
        self.assertEqual(b.text("#problems .card .chip"), "paused")
        self.assertEqual(b.texts("#problems button"), ["Accept as normal", "Pin"])
        watch.accessible_everywhere(self, b, "paused")
        self.begin("Resume")
        self.assertFalse(b.run("return Boolean(document.querySelector('#dialog [name=token]'))"))
        self.send("Resumed.")
        self.assertIsNone(self.scene.json("/api/v1/status")["paused"])

    def test_cancelled_is_not_done(self):
        self.begin("Pause")
        self.browser.keys("\ue00c")
        self.browser.until("the dialog is closed", "return !document.querySelector('#dialog').open")
        self.assertIsNone(self.scene.json("/api/v1/status")["paused"])

    def test_pin_and_unpin(self):
        b = self.browser
        b.open(self.scene.url + "#feature/taxes")
        b.until_text("Segments side by side")
        b.run("sessionStorage.setItem('evenkeel-token', 'a-token-that-is-wrong')")
        self.begin("Pin in", until="soon", reason="the new tariff")
        offered = b.run("return [...document.querySelectorAll('#dialog [name=action] option')].map((o) => o.value)")
        self.assertEqual(set(offered), set(self.scene.json("/api/v1/features/taxes")["pin_actions"]))
        self.assertIn("route", offered)
        self.assertNotIn("repair", offered)
        self.assertFalse(b.run("return Boolean(document.querySelector('#dialog [name=token]'))"))
        b.click("#dialog [type=submit]")
        b.until_text("the token is not in 'http.token_file'", "#dialog [role=alert]")
        self.assertEqual(self.scene.json("/api/v1/pins"), [])
        self.send("until", "#dialog [role=alert]")
        self.fill("until", "2999-01-31")
        self.send("Done.")
        entry = next(c for c in self.scene.json("/api/v1/plan")["entries"] if c["feature"] == "taxes")
        self.assertEqual((entry["source"], entry["mitigation"]), ("operator", "route"))
        self.close()
        b.until_text("in the plan", "#feature-head")
        b.open(self.scene.url + "#plan")
        b.until_text("a pin of an operator", "#view")
        b.until_text("the new tariff", "[aria-label=Pins]")
        pin, = self.scene.json("/api/v1/pins")
        row = b.texts("[aria-label=Pins] tbody td")
        until = datetime.datetime.fromtimestamp(pin["until_ms"] / 1000, datetime.timezone.utc)
        self.assertEqual(row[:3] + row[4:6], ["taxes", place(pin["segment"]), "route", "ana", "the new tariff"])
        self.assertEqual(b.run("return document.querySelector('[aria-label=Pins] time').dateTime"), until.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z")
        self.begin("Unpin")
        self.send("Done.")
        self.assertEqual([c for c in self.scene.json("/api/v1/plan")["entries"] if c["feature"] == "taxes"], [])
        self.assertEqual([d["type"] for d in self.scene.json("/api/v1/history?feature=taxes")][-2:], ["pin", "unpin"])

    def test_accept_and_revert(self):
        b = self.browser
        b.open(self.scene.url + "#feature/price")
        b.until_text("Segments side by side")
        self.begin("Accept in arm=B as normal", reason="cents from now on")
        self.send("Done.")
        self.assertEqual([f for f in self.scene.json("/api/v1/findings") if f["feature"] == "price"], [])
        self.close()
        b.open(self.scene.url)
        b.until_text("An accepted level is in force", "#headline")
        b.until_text("price in arm=B is \u00d7", "#headline")
        self.assertNotIn("as in training again", b.text("#headline"))
        b.open(self.scene.url + "#plan")
        b.until_text("cents from now on", "#view")
        accept, = (d for d in self.scene.json("/api/v1/history?feature=price") if d["type"] == "accept")
        row = b.texts("[aria-label='Accepted levels'] tbody td")
        self.assertEqual(row[:3] + row[4:6], ["price", "arm=B", "\u00d7" + three(accept["factor"]), "ana", "cents from now on"])
        self.begin("Revert")
        self.send("Done.")
        b.until_text("Nothing: training is normal", "#view")
        self.assertEqual([d["type"] for d in self.scene.json("/api/v1/history?feature=price")][-2:], ["accept", "revert"])

    def test_reload(self):
        with open(self.scene.rules, encoding="utf-8") as file:
            rules = file.read()
        with open(self.scene.rules, "w", encoding="utf-8") as file:
            file.write(rules.replace("mode: enforce", "mode: perhaps"))
        self.begin("Reload")
        self.send("Refused, nothing changed", "#dialog [role=alert]")
        self.assertIn("must be observe, shadow, canary or enforce", self.browser.text("#dialog"))
        with open(self.scene.rules, "w", encoding="utf-8") as file:
            file.write(rules)
        self.send("Reloaded.")

    def slow(self, path):
        """Open the first page, where requests of the path wait."""
        b = self.browser
        self.enterContext(b.before(SLOW))
        self.addCleanup(b.open, "about:blank")  # a page with another hash would keep the script
        b.open("about:blank")
        b.open(self.scene.url)
        b.until_text("price in arm=B is", "#headline")
        b.run("window.held = arguments[0]", path)

    def release(self):
        self.browser.run("window.held = null; release()")
        self.browser.until("the response", "return answered")

    def sent_and_closed(self, button, submit):
        """Send a command and close its dialog before the response, then open another dialog."""
        b = self.browser
        self.begin(button)
        self.assertEqual(b.texts("#dialog button"), ["Cancel", submit])
        b.click("#dialog [type=submit]")
        b.until("it can be closed", "return document.querySelector('#dialog button').innerText === 'Close'")
        self.close()
        self.begin("Accept as normal")

    def test_a_late_result_is_a_note_and_no_other_dialog_changes(self):
        b = self.browser
        self.addCleanup(self.scene.tell, "resume")
        self.slow("api/v1/pause")
        b.run("sessionStorage.setItem('evenkeel-token', arguments[0])", TOKEN)
        self.sent_and_closed("Pause", "Pause now")
        self.release()
        b.until_text("Pause: Paused.", "#late")
        self.assertEqual(b.text("#dialog h2"), "Accept price in arm=B")
        self.close()
        watch.accessible_everywhere(self, b, "a late result")
        b.run("window.held = 'api/v1/resume'; answered = 0; sessionStorage.setItem('evenkeel-token', 'a-token-that-is-wrong')")
        self.sent_and_closed("Resume", "Resume now")
        self.assertEqual(b.text("#late"), "")
        self.release()
        b.until_text("Resume: the token is not in 'http.token_file'", "#late")
        self.assertEqual(b.texts("#dialog h2, #dialog [role=alert]"), ["Accept price in arm=B", ""])
        self.close()
        b.click("#late button")
        self.assertEqual(b.text("#late"), "")
        self.assertEqual(self.scene.json("/api/v1/status")["paused"]["actor"], "ana")

    def test_a_dialog_has_only_its_own_actions(self):
        b = self.browser
        self.slow("api/v1/features/price")
        self.begin("Pin")
        self.assertEqual(b.text("#dialog h2"), "Pin price in arm=B")
        self.assertTrue(b.run("return document.querySelector('#dialog [type=submit]').disabled"))
        self.close()
        self.begin("Accept as normal")
        self.release()
        b.run_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        self.assertEqual(b.text("#dialog h2"), "Accept price in arm=B")
        self.close()
        self.begin("Pin")
        b.until("actions", "return !document.querySelector('#dialog [type=submit]').disabled")
        offered = b.run("return [...document.querySelectorAll('#dialog [name=action] option')].map((o) => o.value)")
        self.assertEqual(set(offered), set(self.scene.json("/api/v1/features/price")["pin_actions"]))
        self.close()

    def test_a_login_page_is_no_result(self):
        b = self.browser
        self.enterContext(b.before(LOGIN))
        self.addCleanup(b.open, "about:blank")
        b.open("about:blank")
        b.open(self.scene.url)
        self.begin("Pause")
        self.send("the response is not JSON", "#dialog [role=alert]")
        self.close()
        self.assertIsNone(self.scene.json("/api/v1/status")["paused"])

    def test_a_token_that_cannot_be_sent_is_not_stored(self):
        b = self.browser
        b.run("sessionStorage.clear()")
        self.begin("Pause")
        self.fill("token", "a-token-of-the-page-t\u0435sts")  # a Cyrillic letter
        b.click("#dialog [type=submit]")
        b.until_text("has characters that cannot be sent", "#dialog [role=alert]")
        self.assertIsNone(b.run("return sessionStorage.getItem('evenkeel-token')"))
        self.assertFalse(b.run("return document.querySelector('#dialog [type=submit]').disabled"))
        self.assertTrue(b.run("return document.activeElement.name === 'token'"))
        self.close()
