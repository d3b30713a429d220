"""Configuration of the documentation site: breaks in tables, and the order of search results."""
import os
import re
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SITE, DOCS = os.path.join(TOP, "deploy", "site"), os.path.join(TOP, "docs")
sys.path[:0] = [SITE, os.path.join(TOP, "tests", "gates")]
import conf  # noqa: E402
import gate_documents  # noqa: E402


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


class Breaks(unittest.TestCase):
    def test_follow_punctuation_in_tables(self):
        cell = '<td><code><span class="pre">fetch.max_bytes=&lt;1</span></code></td>'
        self.assertEqual(conf.with_breaks(cell), cell.replace("fetch.max_bytes", "fetch.<wbr>max_<wbr>bytes"))

    def test_leave_other_text_alone(self):
        for body in ('<p><span class="pre">a.b</span></p>', '<td><p>a.b <a href="a_b.html">x</a></p></td>'):
            self.assertEqual(conf.with_breaks(body), body)


class Links(unittest.TestCase):
    def test_within_a_page_and_the_site_stay(self):
        for link in ("[a](#b)", "[a](concepts.md#b)", "![a](dev/performance.svg)", "[a](https://example.org/b)"):
            self.assertEqual(conf.without_foreign_links(link, ""), link)

    def test_to_folders_and_files_elsewhere_become_text(self):
        for link in ("[a](../rules)", "[a](../CHANGELOG.md)", "[a](dev)"):
            self.assertEqual(conf.without_foreign_links(link, ""), "a")


class Search(unittest.TestCase):
    def test_puts_each_generated_page_after_the_guides(self):
        listed = re.findall(r'"([\w-]+)"', re.search(r"GENERATED = \[(.*?)\]", text_of(conf.html_search_scorer), re.S).group(1))
        generated = [name[:-3] for name in sorted(os.listdir(DOCS))
                     if name.endswith(".md") and gate_documents.is_generated(text_of(DOCS, name))]
        self.assertEqual(sorted(listed), generated)


def main():
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
