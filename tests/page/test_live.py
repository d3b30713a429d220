"""Live updates without a reload: by the stream, after the stream was cut, without any stream, and after a restart of
the process."""
import re
import socket
import unittest

import kept
import watch
from harness import eventually
from wire import Wire

# The page polls after three seconds or more; until then all updates are from the stream.
NO_ASKING = """const real = window.setTimeout;
window.setTimeout = (f, ms, ...more) => real(f, ms >= 1000 ? 1e9 : ms, ...more);"""
STREAMS = 16  # http.max_event_streams
TAXES = {"feature": "taxes", "segment": {"arm": "A"}}


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene, cls.browser = kept.found(), kept.browser()
        watch.begin(cls.browser)

    def open(self, page, url=None):
        """Open a page with a mark that a reload would remove."""
        self.browser.open("about:blank")
        self.browser.open((url or self.scene.url) + page)
        self.browser.until("the state", "return document.querySelector('#headline .chip')")
        self.browser.run("window.mark = 1")

    def same_page(self):
        self.assertEqual(self.browser.run("return window.mark"), 1)

    def pinned(self, reason):
        self.scene.tell("pin", **TAXES, action="none", reason=reason)
        self.addCleanup(self.unpinned)

    def unpinned(self):
        if any(pin["feature"] == "taxes" for pin in self.scene.json("/api/v1/pins")):
            self.scene.tell("unpin", **TAXES)

    def streaming(self):
        """Wait until the page reports the stream and has no pending request."""
        self.browser.until("a stream", "return /lists\\/s, (last|no message) /.test(document.querySelector('#link').innerText) && !document.querySelector('#link').innerText.includes('polled')")

    def test_a_change_comes_by_the_stream(self):
        b, s = self.browser, self.scene
        with b.before(NO_ASKING):
            self.open("#plan")
            self.streaming()
            self.pinned("by the stream")
            b.until_text("by the stream", "#view")
            self.unpinned()
            b.until("the pin is gone", "return !document.querySelector('#view').innerText.includes('by the stream')")
            s.tell("pause", reason="for a moment")
            b.until_text("Paused by ana", "h1")
            s.tell("resume")
            b.until("it goes on", "return !document.querySelector('#headline').innerText.includes('Paused')")
            self.open("")
            self.streaming()
            s.send(20)
            b.until_text(f"{s.json('/api/v1/status')['observed_lists']:,} lists seen", "#problems")
            self.same_page()

    def test_what_came_while_the_stream_was_cut(self):
        b = self.browser
        with b.before(NO_ASKING), Wire(int(self.scene.daemon.http.rsplit(":", 1)[1])) as wire:
            self.open("#plan", f"http://127.0.0.1:{wire.port}/")
            self.streaming()
            wire.cut()
            b.until_text("Connection lost. Data as of", "#link")
            self.assertIn("In force: version", b.text("#view"))  # earlier content stays
            self.assertTrue(b.run("return document.body.classList.contains('stale')"))
            self.pinned("meanwhile")
            self.assertNotIn("meanwhile", b.text("#view"))
            wire.mend()
            b.until_text("meanwhile", "#view")
            self.streaming()
            self.same_page()
            b.open("about:blank")

    def test_without_a_stream_it_asks(self):
        self.browser.open("about:blank")  # which releases its slot
        held = [eventually("a place", self.follower) for _ in range(STREAMS)]
        try:
            self.open("#plan")
            self.browser.until_text("polled every 3 s", "#link")
            self.pinned("by asking")
            self.browser.until_text("by asking", "#view")
            self.unpinned()  # repeated without another trigger
            self.browser.until("the pin is gone", "return !document.querySelector('#view').innerText.includes('by asking')")
            self.same_page()
        finally:
            for one in held:
                one.close()

    def follower(self):
        """Another event stream client, if http.max_event_streams allows one more."""
        one = socket.create_connection(("127.0.0.1", int(self.scene.daemon.http.rsplit(":", 1)[1])))
        one.sendall(b"GET /api/v1/events?stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if b" 200 " in one.recv(4096).split(b"\r\n", 1)[0]:
            return one
        one.close()
        return None

    def test_the_instance_is_away_and_begins_anew(self):
        """Without a state the previous decisions, findings and plan are gone."""
        b, s = self.browser, self.scene
        self.open("#history")
        decisions = "return document.querySelectorAll('#decisions tbody tr').length"
        self.assertGreater(b.until("decisions", decisions), 0)
        s.daemon.stop()
        b.until_text("Connection lost. Data as of", "#link")
        self.assertTrue(re.search(r"\d+ s ago", b.text("#link")))
        self.assertEqual(b.text("#spoken"), "Connection lost")
        self.assertGreater(b.run(decisions), 0)
        watch.accessible(self, b, "lost")
        kept.found.cache_clear()  # later tests create a new one
        s.daemon.start().wait_ready()
        b.until_text("no message yet", "#link")
        b.until_text("No decisions yet", "#decisions")
        b.until_text("no data", "#headline .chip")
        self.pinned("of the new process")
        b.until_text("of the new process", "#decisions tbody tr:first-child")
        numbers = [d["sequence"] for d in eventually("a decision", lambda: s.json("/api/v1/history"))]
        self.assertEqual(b.texts("#decisions tbody td:first-child"), [str(n) for n in reversed(numbers)])
        self.same_page()
