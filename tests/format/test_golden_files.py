"""Files written once in version 1 are read equally, and the current program writes the same bytes."""
import os
import random
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ.get("EK", os.path.join(HERE, "..", "..", "build", "evenkeel")))
GOLDEN = os.path.join(HERE, "golden")
MANIFEST = """set: shop
features:
  - {name: price, index: 1, role: item, routable: true, unit: EUR}
  - {name: color, index: 2, role: item, type: category}
  - {name: nights, index: 3, role: query}
"""


def golden(name):
    with open(os.path.join(GOLDEN, name), "rb") as stream:
        return stream.read()


def lists():
    draw = random.Random(7)
    for q in range(1, 251):
        nights = draw.randrange(1, 8)
        for i in range(4):
            yield f"{int(i == 0)} qid:{q} 1:{draw.randrange(100, 20000) / 100} 2:{draw.randrange(5)} 3:{nights}\n"


def documents():
    draw = random.Random(8)
    for i in range(20):
        body = " ".join(f"w{draw.randrange(30)}" for _ in range(12))
        yield f'{{"id": "d{i}", "title": "ship {i}", "body": "{body}"}}\n'


class Written(unittest.TestCase):
    """The same input to the current program."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, lines):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as out:
            out.writelines(lines)

    def run_program(self, *words):
        subprocess.run([PROGRAM, *words], check=True, cwd=self.folder.name, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def made(self, name):
        with open(os.path.join(self.folder.name, name), "rb") as stream:
            return stream.read()

    def test_a_profile_is_the_golden_file(self):
        self.write("shop.yaml", [MANIFEST])
        self.write("lists.txt", lists())
        self.run_program("profile", "-m", "shop.yaml", "--letor", "lists.txt", "-o", "p.ekp")
        self.assertEqual(self.made("p.ekp"), golden("profile-1.ekp"))

    def test_an_index_is_the_golden_file(self):
        self.write("docs.jsonl", documents())
        self.run_program("extract", "--collection", "docs.jsonl", "--index", "i.ekx")
        self.assertEqual(self.made("i.ekx"), golden("index-1.ekx"))


class Read(unittest.TestCase):
    def test_the_program_reads_the_golden_profile(self):
        said = subprocess.run([PROGRAM, "inspect", "--json", os.path.join(GOLDEN, "profile-1.ekp")], check=True,
                              capture_output=True, text=True).stdout
        self.assertIn('"lists":250', said.replace(" ", ""))

    def test_the_program_finds_in_the_golden_index(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "q.tsv"), "w", encoding="utf-8") as out:
                out.write("q1\tw3 w5\n")
            said = subprocess.run([PROGRAM, "extract", "--index", os.path.join(GOLDEN, "index-1.ekx"), "--queries", "q.tsv",
                                   "--top", "3"], check=True, cwd=folder, capture_output=True, text=True).stdout
        self.assertEqual(len(said.splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
