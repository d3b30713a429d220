"""Keyboard use: every control is reachable in reading order, and updates keep the focus."""
import heard
import kept
import opened
from scene import TOKEN

TAB, ENTER = "\ue004", "\ue007"
# Label of each focusable element.
NAME = """const nameOf = (e) => !e || e === document.body ? 'nothing' : e.getAttribute('aria-label') || e.closest('label')?.firstChild.textContent.trim() || e.innerText.trim() || e.id;"""
SEEN = """const r = document.activeElement.getBoundingClientRect(), style = getComputedStyle(document.activeElement);
return [nameOf(document.activeElement), r.width > 0 && r.bottom > 0 && r.top < innerHeight && style.outlineStyle !== 'none'];"""
IN_ORDER = """return [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((e) => !e.disabled && e.checkVisibility() && !e.closest('dialog')).map(nameOf);"""


class Keys(opened.Opened):
    def focus(self):
        return self.browser.run(NAME + "return nameOf(document.activeElement)")

    def tab_to(self, name, most=40):
        for _ in range(most):
            self.browser.keys(TAB)
            if self.focus() == name:
                return
        raise AssertionError(f"'{name}' is not reached; the focus is on '{self.focus()}'")

    def test_tab_goes_through_all_in_the_order_of_the_page(self):
        b = self.browser
        self.open("")
        b.until("rows", "return document.querySelectorAll('#features tbody tr').length")
        order = b.run(NAME + IN_ORDER)
        seen = []
        for _ in order:
            b.keys(TAB)
            seen.append(b.run(NAME + SEEN))
        self.assertEqual([name for name, _ in seen], order)
        self.assertEqual([name for name, there in seen if not there], [])
        self.assertEqual(order[:11], ["Skip to the content", "hotels", "Features", "Plan", "Incidents", "History", "Pause", "Why we are sure of price", "Accept as normal", "Pin", "Search"])

    def test_the_bar_can_be_skipped(self):
        self.open("")
        self.browser.keys(TAB + ENTER)
        self.assertEqual(self.browser.run("return document.activeElement.id"), "content")
        self.browser.keys(TAB)
        self.assertEqual(self.focus(), "Why we are sure of price")

    def test_a_pin_from_the_first_page_and_back(self):
        """Search, open, pin, unpin, return; the focus is never lost."""
        b = self.browser
        self.open("")
        b.until("rows", "return document.querySelectorAll('#features tbody tr').length")
        b.run("sessionStorage.clear(); document.body.focus()")
        b.keys("/" + "taxes")
        b.until("one row", "return document.querySelectorAll('#features tbody tr').length === 1")
        self.tab_to("taxes")
        b.keys(ENTER)
        b.until_text("Segments side by side")
        self.assertEqual(self.focus(), "taxes")
        place = b.run("return document.querySelector('#view select').value")
        self.pin(place)
        self.unpin(place)
        b.run("document.querySelector('#feature-head a').focus()")
        b.keys(ENTER)
        b.until("the table", "return document.querySelector('#features')")
        self.assertEqual(b.run("return document.activeElement.id"), "content")

    def pin(self, place):
        b = self.browser
        self.tab_to(f"Pin in {place}")
        b.keys(ENTER)
        b.until("a dialog with the focus", "return document.querySelector('#dialog').contains(document.activeElement)")
        self.tab_to("Until")
        b.keys("2999-01-31")
        self.tab_to("Reason")
        b.keys("by keys")
        self.tab_to("Token")
        b.keys(TOKEN + ENTER)
        b.until_text("Done.", "#dialog")
        pins = self.scene.json("/api/v1/pins")
        self.assertEqual([(p["feature"], p["actor"], p["reason"]) for p in pins], [("taxes", "ana", "by keys")])
        b.until("the other button behind the dialog", "return [...document.querySelectorAll('#view button')].some((e) => e.innerText.startsWith('Unpin'))")
        b.keys(ENTER)
        b.until("the dialog is closed", "return !document.querySelector('#dialog').open")
        b.until("the focus on what took the place of the button", NAME + "return nameOf(document.activeElement) === arguments[0]", f"Unpin in {place}")

    def unpin(self, place):
        b = self.browser
        b.keys(ENTER)
        b.until("a dialog with the focus", "return document.querySelector('#dialog').contains(document.activeElement)")
        self.tab_to("Unpin")
        b.keys(ENTER)
        b.until_text("Done.", "#dialog")
        self.assertEqual(self.scene.json("/api/v1/pins"), [])
        b.keys(ENTER)
        b.until("the focus on what took the place of the button", NAME + "return nameOf(document.activeElement) === arguments[0]", f"Pin in {place}")

    def test_new_figures_take_nothing_away(self):
        """Updates keep the focus, opened parts, and scroll positions."""
        b, path = self.browser, "features/price"
        self.addCleanup(b.look, 1280, 900)
        b.look(660, 720)
        self.open("#feature/price")
        b.until_text("The same as a table")
        b.run("const d = document.querySelector('#feature-shape details'); d.open = true; d.querySelector('summary').focus();"
              "document.querySelector('[aria-label=Segments]').scrollLeft = 20")
        self.assertEqual(b.run("return document.querySelector('[aria-label=Segments]').scrollLeft"), 20)
        other = heard.answer(b, "api/v1/" + path)
        cell = kept.cell_of(other, kept.ARM_B)
        cell["current"]["lists"] = 98765
        cell["histogram"]["bins"][0]["training"] = 0.123
        heard.say(b, **{path: other})
        b.until_text("98,765", "#cells")
        self.assertTrue(b.run("return document.querySelector('#feature-shape').textContent.includes('12%')"))
        self.assertTrue(b.run("return document.querySelector('#feature-shape details').open"))
        self.assertEqual(self.focus(), "The same as a table")
        self.assertEqual(b.run("return document.querySelector('[aria-label=Segments]').scrollLeft"), 20)

    def test_a_closed_section_stays_closed(self):
        b, path = self.browser, "samples?feature=price"
        self.open("#feature/price")
        b.until("an open list", "return document.querySelector('#feature-samples details')?.open")
        b.run("document.querySelector('#feature-samples details').open = false")
        other = heard.answer(b, "api/v1/" + path)
        other["lists"][0]["items_total"] = 98765
        heard.say(b, **{path: other})
        b.until("the new figure", "return document.querySelector('#feature-samples').textContent.includes('of 98765 items')")
        self.assertFalse(b.run("return document.querySelector('#feature-samples details').open"))
