"""Reference pages that a Python program makes from one source are not stale."""
import subprocess
import sys

PAGES = {"docs/http.md": ("deploy/http_page.py", "docs/openapi.json"),
         "docs/c-api.md": ("deploy/c_api_page.py", "lib/evenkeel.h"),
         "docs/units.md": ("deploy/units_page.py", "rules/units.yaml"),
         "docs/alert-rules.md": ("deploy/alert_rules_page.py", "deploy/prometheus/evenkeel.rules.yml")}


def faults(tree):
    for page, (program, source) in PAGES.items():
        made = subprocess.run([sys.executable, "-B", tree.path(program), tree.path(source)], capture_output=True, text=True, check=False)
        if made.returncode or made.stdout != tree.text(page):
            yield f"{page}:1: is stale: make reference"
    tree.note = f"{len(PAGES)} pages"


SEEDS = [
    ("a stale page", "docs/http.md", "| seeded |\n", "docs/http.md:1: is stale"),
    ("a function that its page lacks", "lib/evenkeel.h", "/** Return nothing. */\nvoid ek_seeded(void);\n", "docs/c-api.md:1: is stale"),
    ("a conversion that its page lacks", "rules/units.yaml", "  - {id: seeded, factor: 7, text: sevens}\n", "docs/units.md:1: is stale"),
]
