"""Each event in the log has a standard name, a meaning, and its row in docs/log-events.md."""
import importlib.util
import re

PAGE = "docs/log-events.md"
# Last words of names: participles, and states and nouns of the glossary.
IRREGULAR = {"back", "found", "lost", "rewound", "sent", "set"}
STATES = {"error", "event", "info", "instance", "log", "pending", "stale", "timeout", "unavailable", "unknown", "unreadable", "warning",
          "missing"}
SINGLE = {"finding"}
_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+$")


def generator(tree):
    spec = importlib.util.spec_from_file_location("log_events", tree.path("deploy/log_events.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has_standard_name(event):
    last = event.split("_")[-1]
    return event in SINGLE or (_NAME.match(event) and (last.endswith(("ed", "ing")) or last in IRREGULAR | STATES))


def faults(tree):
    made = generator(tree)
    events, errors = made.find_events(tree.text, tree.files("*.c", folders=("daemon",)))
    yield from errors
    for name, one in sorted(events.items()):
        if not has_standard_name(name):
            yield f"{one.places[0]}: event '{name}' is not named <object>_<participle>"
        if name not in made.MEANINGS:
            yield f"{one.places[0]}: event '{name}' has no meaning in deploy/log_events.py"
    for name in sorted(set(made.MEANINGS) - set(events)):
        yield f"deploy/log_events.py:1: event '{name}' is not in the code"
    if tree.text(PAGE) != made.page(events):
        yield f"{PAGE}:1: is stale: make reference"
    tree.note = f"{len(events)} events"


CALL = 'void ek_seeded(struct ek_log *log);\nvoid ek_seeded(struct ek_log *log)\n{\n    ek_log_text(log, EK_LOG_WARN, "%s", "text");\n}\n'
SEEDS = [
    ("an event with another name", "daemon/base/log_seeded.c", CALL % "state_is_gone", "'state_is_gone' is not named"),
    ("an event without a meaning", "daemon/base/log_seeded.c", CALL % "disk_removed", "'disk_removed' has no meaning"),
    ("a stale page", PAGE, "| `disk_removed` |\n", "is stale"),
]
