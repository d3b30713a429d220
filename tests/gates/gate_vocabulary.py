"""The vocabulary of the glossary: no former name of anything a user sees, no banned verb in an exported function, no
verb of speech in a name, entries of docs/glossary.md in order and with a definition, no link to a missing entry, and
one long option for each short one."""
import re

from tree import line_of

# Former names of keys, options, metrics, headers, log events, alerts and fields: they are unique words.
WORDS = """
observed_queries confirm_queries ticks_topic feature_cells commit_every alert_timeout query_within item_queries
connections_per_address trial_percent hold_max same_query act_effect act_share min_effect worse_than_fault
route_spread route_source cut_messages unreadable_forwarded waiting_messages added_latency stage_seconds
repeated_messages replayed_messages beyond_limit oldest_confirmed_finding_seconds routes_withdrawn trials_skipped
rank_tau rank_places alerts_known alerts_waiting alerts_oldest_seconds alerts_lost state_bases state_bytes_total
state_save_seconds state_restore_seconds state_age_seconds state_waiting_seconds state_gaps fleet_decides
fleet_cut_off fleet_names_shared fleet_ticks plan_entries_missed fleet_cells_beyond left_out_items forgotten_queries
item_lists_total moved_most would_be_withdrawn late_trials names_shared scored_anew withdrawn going_back
state_catches_up state_awaited state_unsaved state_not_saved state_not_sent state_not_kept state_not_handed_over
fleet_heard_again fleet_decides_no_more fleet_suspects fleet_name_shared close_unanswered abort_unanswered
commit_unanswered drain_cut_short alerts_not_told features_not_shown limits_unknown librdkafka_old headers_left_out
dead_letter_cut ek-left-out ek-plan DriftStays KafkaRefuses AlertsNotGoingOut DeadLettersMany fidelity
begin-anew keep-clean score-model route-withdrawn
""".split()
# Dotted keys: the last part is a common word.
KEYS = """
output.dead_letter input.start state.every fleet.tick fleet.silent fleet.cells fleet.places limits.cells windows.cells
limits.shutdown limits.alerts limits.alert_wait pipeline.batch pipeline.max_latency windows.kept http.events
http.streams http.connections http.request_time http.feature_cells api/v1/ranks api/v1/orders
""".split()
# Former fields of JSON, in the writers of the API and of events.
FIELDS = """
tried alone moved plain doing without gaps bases decider decides cut_off episode cause members signal limited what who
why rail figure figures gone fit faults notes recent life track unreadable untouched
""".split()
FIELD_FOLDERS = ("daemon/alerts/", "daemon/commands/", "daemon/config/", "daemon/fleet/", "daemon/guard/", "daemon/http/",
                 "daemon/stage/", "daemon/state/", "daemon/views/", "lib/guard/", "lib/plan/", "lib/fleet/")
# Former keys of a map in YAML: rules, canary, output.
MAPS = [(r"\bcanary:\s*\{[^}\n]*?\b(percent|step|every|max):", "of a canary"),
        (r"\boutput:\s*\{[^}\n]*?\b(dead_letter):", "of the output"),
        (r"\b(?:defaults|price|distance):\s*\{[^}\n]*?\b(hold|on|baseline|act_\w+):", "of the rules")]
OPTIONS = r"(?<![\w-])--(perturb|judge|likeness|chance|spread|average|shift|baseline|fill)(?![\w-])"
# Decisions describe history. The other files are inputs with deliberate mistakes, or this list.
SKIPPED = ("docs/dev/decisions/", "tests/bad/", "tests/gates/gate_vocabulary.py", "lib/vendor/")
VERBS = {"tell", "say", "hear", "take", "give", "lay", "turn", "settle", "look", "go", "come", "keep", "own", "ask", "put",
         "let", "forget", "wish"}
# Verbs of speech and other words that no identifier contains.
SPEECH = {"tell", "tells", "told", "say", "says", "said", "hear", "hears", "heard", "hearing", "ask", "asks", "asked", "anew",
          "nobody", "somebody", "whoever", "wish", "beside"}
GLOSSARY = "docs/glossary.md"
# Long options that count the same things.
SAME = {"n": "lists", "lists": "n"}

_WORD = re.compile(r"(?<![\w-])(?:evenkeel_)?(" + "|".join(WORDS) + r")(?:_total|_seconds)?(?![\w-])")
_KEY = re.compile(r"(?<![\w./-])(" + "|".join(map(re.escape, KEYS)) + r")(?![\w-])")
_FIELD = re.compile(r'(?:\\"(' + "|".join(FIELDS) + r')\\":|ek_json_\w+\([^;"]*"(' + "|".join(FIELDS) + r')")')
_OPTION = re.compile(OPTIONS)
_SHORT = re.compile(r"\"([a-z][a-z-]*)\",\s*'(\w)',")
_NAME = re.compile(r"\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*_?\b")
_ENTRY = re.compile(r"^## (.*)\n+((?:(?!#).*\n?)*)", re.M)
_INNER = re.compile(r"\]\(#([\w-]+)\)")
_FUNCTION = re.compile(r"\b(ek_[a-z0-9_]+)\s*\(")
_GLOSSARY = re.compile(r"\]\((?:\.\./)*(?:docs/)?glossary\.md#([\w-]+)\)")


def checked(tree):
    names = tree.each("*.c", "*.cc", "*.h", "*.md", "*.py", "*.sh", "*.yaml", "*.yml", "*.json", "*.js", "*.html", "*.css", "*.in",
                      "*.service", "*.conf", "Makefile", "*.mk", "*.map")
    return [name for name in names if not name.startswith(SKIPPED)]


def patterns_of(name):
    yield _WORD, "former name"
    yield _KEY, "former key"
    if name.startswith(("daemon/", "docs/", "deploy/")):
        yield _OPTION, "former option"
    if name.startswith(FIELD_FOLDERS):
        yield _FIELD, "former field"
    for pattern, place in MAPS:
        yield re.compile(pattern), f"former key {place}"


def word_faults(tree):
    for name in checked(tree):
        text = tree.text(name)
        for pattern, kind in patterns_of(name):
            for match in pattern.finditer(text):
                word = next(group for group in match.groups() if group)
                yield f"{name}:{line_of(text, match.start())}: {kind} '{word}'"


def verb_faults(tree):
    for name in tree.each("*.h", folders=("lib", "daemon")):
        code = tree.code(name)
        for match in _FUNCTION.finditer(code):
            banned = VERBS & set(match.group(1).split("_"))
            if banned:
                yield f"{name}:{line_of(code, match.start())}: '{match.group(1)}' has the verb '{min(banned)}'"


def name_faults(tree):
    for name in tree.each("*.c", "*.cc", "*.h", folders=("lib", "daemon")):
        code = "" if name.startswith("lib/vendor/") else tree.code(name)
        for match in _NAME.finditer(code):
            banned = SPEECH & set(match.group(0).lower().split("_"))
            if banned:
                yield f"{name}:{line_of(code, match.start())}: '{match.group(0)}' has the word '{min(banned)}'"


def glossary_faults(tree):
    text, last = tree.text(GLOSSARY), ""
    for match in _ENTRY.finditer(text):
        term, definition = match.group(1).strip(), match.group(2).strip()
        place = f"{GLOSSARY}:{line_of(text, match.start())}"
        if term.lower() <= last:
            yield f"{place}: '{term}' is not in alphabetic order"
        if not definition:
            yield f"{place}: '{term}' has no definition"
        last = term.lower()


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def link_faults(tree):
    anchors = {anchor(match) for match in re.findall(r"^#+ (.*)$", tree.text(GLOSSARY), re.M)}
    for name in tree.each("*.md"):
        links = list(_GLOSSARY.finditer(tree.text(name)))
        if name == GLOSSARY:
            links += _INNER.finditer(tree.text(name))
        for match in links:
            if match.group(1) not in anchors:
                yield f"{name}:{line_of(tree.text(name), match.start())}: no entry '{match.group(1)}' in {GLOSSARY}"


def option_faults(tree):
    """Yield short options with another long option than in the first file that has it."""
    first = {}
    for name in tree.files("*.c", "*.h", folders=("daemon",)):
        for match in _SHORT.finditer(tree.text(name)):
            option, letter = match.groups()
            other = first.setdefault(letter, option)
            if option not in (other, SAME.get(other, other)):
                yield f"{name}:{line_of(tree.text(name), match.start())}: '-{letter}' is --{option} here and --{other} elsewhere"


def faults(tree):
    yield from word_faults(tree)
    yield from option_faults(tree)
    yield from verb_faults(tree)
    yield from name_faults(tree)
    yield from glossary_faults(tree)
    yield from link_faults(tree)
    tree.note = f"{len(WORDS) + len(KEYS) + len(FIELDS)} former names"


SEEDS = [
    ("a former metric", "docs/run.md", "`evenkeel_rank_tau` is the correlation.\n", "former name 'rank_tau'"),
    ("a former header", "daemon/kafka/side_records.h", "/* The header ek-left-out lists the parts. */\n", "former name 'ek-left-out'"),
    ("a former key", "docs/run.md", "Set `state.every`.\n", "former key 'state.every'"),
    ("a former field", "daemon/http/pages.c", 'const char *ek_seeded = "{\\"doing\\":1}";\n', "former field 'doing'"),
    ("a former key of a canary", "docs/run.md", "canary: {percent: 5}\n", "former key of a canary 'percent'"),
    ("a former option", "docs/evaluation.md", "Run it with `--perturb x`.\n", "former option 'perturb'"),
    ("another short option", "daemon/commands/replay.c", "/* {\"page\", 'p', */\n", "'-p' is --p"),
    ("a banned verb", "lib/base/hash.h", "void ek_hash_tell(int number);\n", "'ek_hash_tell' has the verb 'tell'"),
    ("a verb of speech in a name", "lib/base/hash.c", "int ek_hash_told;\n", "has the word"),
    ("an entry out of order", "docs/glossary.md", "\n## aardvark\n\nAn animal.\n", "is not in alphabetic order"),
    ("an entry without a definition", "docs/glossary.md", "\n## zzz\n", "has no definition"),
    ("a link within the glossary", "docs/glossary.md", "\n## zzz\n\nSee [bell](#bell).\n", "no entry 'bell'"),
    ("a link to a missing entry", "docs/run.md", "See [bell](glossary.md#bell).\n", "no entry 'bell'"),
]
