"""Page of a fleet instance that is not the leader: its data, a pending command, and a lost connection."""
import os
import signal
import unittest

import heard
import kept
import watch
from harness import eventually
from scene import TOKEN, tell


class InFleet(unittest.TestCase):
    @classmethod
    def ahead(cls):
        kept.fleet()

    @classmethod
    def setUpClass(cls):
        scene, both = kept.fleet()
        cls.name = eventually("one of them decides", lambda: next((name for name, i in both.items() if i.status().get("fleet", {}).get("is_leader")), None))
        cls.one, cls.two = both[cls.name], next(i for name, i in both.items() if name != cls.name)
        scene.mock.send(kept.assets().traffic[:100])  # sets its event time
        eventually("the other one hears the plan", lambda: cls.fleet().get("plan_version") and not cls.fleet()["plan_stale"])
        cls.browser, cls.url = kept.browser(), f"http://{cls.two.http}/"
        watch.begin(cls.browser)
        cls.enterClassContext(cls.browser.before(heard.SCRIPT))

    @classmethod
    def fleet(cls):
        return cls.two.status().get("fleet", {})

    def decider(self, number):
        os.kill(self.one.process.pid, number)

    def begin(self, button):
        self.browser.until(button, "const b = [...document.querySelectorAll('#acts button, #view button')].find((e) => e.innerText.startsWith(arguments[0]));"
                           "b?.click(); return b && document.querySelector('#dialog').open", button)

    def fill(self, name, text):
        self.browser.run("document.querySelector(`#dialog [name=${arguments[0]}]`).value = arguments[1]", name, text)

    def go(self):
        self.browser.click("#dialog [type=submit]")

    def order(self, number):
        return next(o for o in self.two.json("/api/v1/commands") if o["command_id"] == number)

    def test_story(self):
        b = self.browser
        b.open(self.url + "#feature/taxes")
        b.run("sessionStorage.clear()")
        self.readiness()
        b.until_text("This instance has no statistics of it yet")
        self.an_order_is_done()
        self.an_order_is_refused()
        self.nobody_answers()
        watch.hold(self, b, self.url)

    def readiness(self):
        """The other instance has the partition; the group decides whether this one is ready."""
        def agrees():
            ready = self.two.json("/ready")["ready"]
            return ("Not ready: it has no partition to read" in self.browser.text("#headline")) == (not ready)
        eventually("the page says what /ready says", agrees)

    def an_order_is_done(self):
        b = self.browser
        self.begin("Pin")
        self.fill("reason", "the new tariff")
        self.fill("token", TOKEN)
        self.go()
        b.until_text(f"Done, for all instances, by {self.name}.", "#dialog")
        order = self.order(1)
        self.assertEqual((order["state"], order["leader"], order["decision"]["type"], order["decision"]["actor"]), ("applied", self.name, "pin", "ana"))
        pin, = self.one.json("/api/v1/pins")
        self.assertEqual((pin["feature"], pin["reason"]), ("taxes", "the new tariff"))
        b.click("#dialog button")
        b.run("location.hash = '#plan'")
        b.until_text("the new tariff", "[aria-label=Pins]")
        self.members()

    def members(self):
        """Both pages name the leader, which alone knows the number of instances."""
        b, other = self.browser, "two" if self.name == "one" else "one"
        b.until_text(f"instance {other}, leader {self.name}", "#link")
        b.until_text(f"Leader\n{self.name}", "#view")
        b.open(f"http://{self.one.http}/#plan")
        b.until_text(f"instance {self.name}, leader of 2", "#link")
        b.until_text("Instances\n2", "#view")
        watch.accessible_everywhere(self, b, "leader")
        b.open(self.url + "#plan")
        b.until_text("the new tariff", "[aria-label=Pins]")
        watch.requests(b)  # of both instances

    def an_order_is_refused(self):
        """With the leader's message: it is unpinned there before the page receives the change."""
        b = self.browser
        self.begin("Unpin")
        tell(self.one, "unpin", feature="taxes", reason="too late for the page")
        eventually("it is unpinned", lambda: not self.one.json("/api/v1/pins"))
        self.go()
        b.until_text("'taxes' is not pinned there", "#dialog [role=alert]")
        self.assertIn(self.order(2)["error"], b.text("#dialog [role=alert]"))
        b.click("#dialog button")

    def nobody_answers(self):
        b = self.browser
        self.decider(signal.SIGSTOP)
        self.addCleanup(self.decider, signal.SIGCONT)
        b.until_text("Stale plan: nothing received from the fleet", "#headline")
        self.assertTrue(self.fleet()["plan_stale"])
        self.begin("Pause")
        self.fill("reason", "odd")
        self.go()
        b.until_text("Sent to the fleet as command 3. Waiting for the leader.", "#dialog [role=status]")
        self.assertEqual(self.order(3)["state"], "pending")
        self.assertTrue(b.run("return document.querySelector('#dialog [type=submit]').disabled"))
        heard.say(b, commands=[{"command_id": 3, "state": "lost"}])
        b.until_text("Command 3 was sent to the fleet, but there was no reply", "#dialog [role=alert]")
        self.assertFalse(b.run("return document.querySelector('#dialog [type=submit]').disabled"))
        heard.say(b)
        self.decider(signal.SIGCONT)
        eventually("it was answered after all", lambda: self.order(3)["state"] == "applied")
        self.go()
        b.until_text(f"Paused: all instances, by {self.name}.", "#dialog")
        b.click("#dialog button")
        b.until_text("Paused by ana: no list is changed", "#headline")
        b.until("no longer stale", "return !document.querySelector('#headline').innerText.includes('Stale plan')")
