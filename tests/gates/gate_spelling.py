"""Comments, documents and messages have US spelling, and no misspelling that codespell knows."""
import re
import shutil
import subprocess

from tree import line_of

FOLDERS = ("lib", "daemon", "python", "java", "docs", "deploy", "tests")
# Folders of inputs with deliberate mistakes.
SKIPPED = ("tests/bad/", "tests/golden/", "tests/fuzz/corpus/", "tests/gates/gate_spelling.py")
# Words of the field, and tests of misspelled input.
KNOWN = "inflight,mape,crate,crates,bu,zar,nd,ot,whats,servce,sesion,featur,reson,unsecure,strem,nulll,tthe,trian,valeu,limts,secur,tresholds,itmes,caf"
BRITISH = re.compile(
    r"\b(catalogue|behaviour|colour|favour|neighbour|centre|licen" + r"ce|judgement|learnt|labelled|labelling|cancelled|travelling|modelling"
    r"|(?:kilo|centi|milli)?metres?|grey|artefact|fulfil|whilst|programme"
    r"|\w*(?:normalis|optimis|authoris|initialis|serialis|summaris|organis|recognis|minimis|maximis|categoris|utilis|penalis|generalis"
    r"|standardis|synchronis|vectoris|tokenis|quantis)(?:e|ed|er|es|ing|ation|ations|ers))s?\b", re.I)


def checked(tree):
    names = tree.each("*.c", "*.cc", "*.h", "*.md", "*.py", "*.sh", "*.yaml", "*.js", "*.html", folders=FOLDERS)
    names += [name for name in tree.each("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile") if "/" not in name]
    return [name for name in names if not name.startswith(SKIPPED)]


def faults(tree):
    names = checked(tree)
    for name in names:
        for match in BRITISH.finditer(tree.text(name)):
            yield f"{name}:{line_of(tree.text(name), match.start())}: '{match.group(0)}' is not US spelling"
    if not shutil.which("codespell"):
        tree.note = "US spelling only; no codespell"
        return
    for start in range(0, len(names), 500):
        result = subprocess.run(["codespell", "-q", "3", "-L", KNOWN, *names[start:start + 500]], cwd=tree.root, capture_output=True, text=True)
        yield from result.stdout.splitlines()
    tree.note = f"{len(names)} files"


SEEDS = [
    ("a British spelling", "lib/base/hash.c", "/* The beha" + "viour of a hash. */\n", "is not US spelling"),
    ("a misspelling", "docs/install.md", "It is adap" + "tible to your needs, and occured once.\n", "occured"),
]
