"""Links to the glossary: the first use of a term on a page, and no other."""
import os
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "deploy", "site"))
import terms  # noqa: E402


def linked(page, known):
    uses = terms.FirstUses(known)
    return [(part, term) for text in page for part, term in uses.split(text) if term]


class FirstUses(unittest.TestCase):
    def test_links_the_first_use_alone(self):
        self.assertEqual(linked(["A route, a route.", "Routes"], ["route"]), [("route", "route")])

    def test_keeps_the_text(self):
        text = "Two Routes of a dead-letter\ntopic."
        parts = terms.FirstUses(["route", "dead-letter topic"]).split(text)
        self.assertEqual("".join(part for part, _ in parts), text)
        self.assertEqual([term for _, term in parts if term], ["route", "dead-letter topic"])

    def test_prefers_the_longest_term(self):
        self.assertEqual(linked(["a route budget, a route"], ["route", "route budget"]),
                         [("route budget", "route budget"), ("route", "route")])

    def test_links_no_part_of_a_word(self):
        self.assertEqual(linked(["planned, list-free, pre-plan, planet"], ["plan", "list"]), [])

    def test_the_glossary_has_terms(self):
        with open(os.path.join(TOP, "docs", "glossary.md"), encoding="utf-8") as f:
            known = terms.glossary_terms(f.read())
        self.assertIn("dead-letter topic", known)
        self.assertFalse(terms.COMMON & set(known))


result = unittest.TextTestRunner(verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(FirstUses))
failed = len(result.failures) + len(result.errors)
print(f"{result.testsRun - failed} passed, {failed} failed")
sys.exit(failed != 0)
