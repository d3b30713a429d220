"""Alert rules and the dashboards use only existing metrics and labels. Each alert has a runbook section, a test in
which it is quiet and one in which it fires, and the severity of the program's own alert with that section."""
import json
import os
import re
import subprocess
import sys

RULES, TESTS = "deploy/prometheus/evenkeel.rules.yml", "deploy/prometheus/evenkeel.test.yml"
WELL, INTERNALS = "deploy/grafana/evenkeel.json", "deploy/grafana/evenkeel-internals.json"
DASHBOARDS, MAKER, WELL_PANELS = (WELL, INTERNALS), "deploy/grafana/dashboard.py", 8
METRICS, RUNBOOKS = "docs/metrics.md", "docs/runbooks.md"
OWN, ALERTS = "daemon/alerts/alert.c", "docs/alerts.md"
OF_A_SCRAPE = {"job", "instance"}
FOREIGN = {"up": OF_A_SCRAPE}

_ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|", re.M)
_NAME = re.compile(r'(?<![\w:$"])((?:evenkeel_|process_|instance:)[\w:]+|up\b)(?:\{([^}]*)\})?')
_KEY = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUPED = re.compile(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)")
_LEGEND = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")
_ALERT = re.compile(r"^ +- alert: (\w+)\n((?: {8}.*\n?)*)", re.M)
_OWN = re.compile(r'\{"([a-z-]+)",\s+"(Evenkeel\w+)",\s+EK_ALERT_(\w+)')
# The limits of is_plan_limit in OWN.
PLAN_LIMITS = 'limit=~"plan|max_routed_.*"'
_LOOK = re.compile(r"^\*\*Look\*\*.*?(?=^\*\*Do\*\*|^## |\Z)", re.M | re.S)
_SHELL = re.compile(r"^```sh[^\n]*\n(.*?)^```$", re.M | re.S)
_CHANGES = re.compile(r"^[^#\n]*?(evenkeel (?:pause|resume|accept|revert|pin|unpin|reload|run)\b|curl\b[^\n|]*?(?:\s-[a-zA-Z]*[dX]|--(?:data|request|json)))", re.M)
_RECORD = re.compile(r"^ +- record: (\S+)\n +expr: (.*)$", re.M)


def families(tree):
    """Return {series name: its labels}, from the metrics page and the recording rules."""
    found = dict(FOREIGN)
    for name, kind, labels in _ROW.findall(tree.text(METRICS)):
        labels = set(re.findall(r"\w+", labels)) | OF_A_SCRAPE
        found[name] = labels
        if kind == "histogram":
            found.update({name + end: labels for end in ("_bucket", "_sum", "_count")})
    for name, expression in _RECORD.findall(tree.text(RULES)):
        found[name] = {label for group in _GROUPED.findall(expression) for label in re.findall(r"\w+", group)} - {"le"}
    return found


def expression_faults(expression, known, legends=""):
    there = set()
    for name, selector in _NAME.findall(expression):
        if name not in known:
            yield f"{name} is no metric"
            continue
        there |= known[name]
        for label in set(_KEY.findall(re.sub(r'"[^"]*"', '""', selector))) - known[name]:
            yield f"{name} has no label {label}"
    grouped = {label for group in _GROUPED.findall(expression) for label in re.findall(r"\w+", group)}
    for label in sorted((grouped | set(_LEGEND.findall(legends))) - there):
        yield f"no metric of it has the label {label}: {expression}"


def anchors(text):
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in re.findall(r"^#+ +(.*?) *$", text, re.M)}


def severity_faults(name, body, place, own):
    wanted = "critical" if PLAN_LIMITS in body else own.get(place)
    if wanted and f"severity: {wanted}}}" not in body:
        yield f"{RULES}: {name}: the alert {place} of the program is {wanted}"


def rule_faults(tree, known):
    places, tests = anchors(tree.text(RUNBOOKS)), tree.text(TESTS)
    own = {kind: severity.lower() for kind, _, severity in _OWN.findall(tree.text(OWN))}
    for name, body in _ALERT.findall(tree.text(RULES)):
        expression = re.search(r"^ +expr: (.*)$", body, re.M)
        for fault in expression_faults(expression.group(1) if expression else "", known, body):
            yield f"{RULES}: {name}: {fault}"
        url = re.search(r"runbook_url: docs/runbooks\.md#(\S+)", body)
        if not url or url.group(1) not in places:
            yield f"{RULES}: {name}: leads to no place of the runbooks"
        yield from severity_faults(name, body, url.group(1) if url else "", own)
        if not re.search(rf"\{{alertname: {name}, eval_time: \w+, exp_alerts: \[\]\}}", tests):
            yield f"{TESTS}: no test in which {name} stays quiet"
        if not re.search(rf"- alertname: {name}\n +eval_time: \w+\n +exp_alerts:\n +- exp_labels", tests):
            yield f"{TESTS}: no test in which {name} fires"


def runbook_faults(tree):
    """Check the reverse: every runbook section belongs to an alert."""
    rules, text, own = tree.text(RULES), tree.text(RUNBOOKS), [row[:2] for row in _OWN.findall(tree.text(OWN))]
    known, said = {name for name, _ in _ALERT.findall(rules)}, set(re.findall(r"`(Evenkeel\w+)`", text))
    titles = {title for kind, title in own if kind != "test"}
    for name in sorted(said - known - titles):
        yield f"{RUNBOOKS}: no rule has the name {name}"
    for look in _LOOK.findall(text):
        for words in _CHANGES.findall("".join(_SHELL.findall(look))):
            yield f"{RUNBOOKS}: who only looks is told to say '{words}'"
    places = set(re.findall(r"runbook_url: docs/runbooks\.md#(\S+)", rules)) | {kind for kind, _ in own if kind != "test"}
    sections = anchors("\n".join(re.findall(r"^## .*$", text, re.M)))
    for place in sorted(sections - places):
        yield f"{RUNBOOKS}: no alert leads to #{place}"
    for kind, title in own:
        if kind != "test" and (kind not in sections or f"| `{kind}`, `{title}` |" not in tree.text(ALERTS)):
            yield f"{OWN}: {kind} has no section in {RUNBOOKS}, or no row in {ALERTS}"


def panel_faults(panels, known):
    seen = set()
    for p in panels:
        if p["id"] in seen:
            yield f"two panels have the id {p['id']}"
        seen.add(p["id"])
        grid = p["gridPos"]
        if grid["x"] + grid["w"] > 24 or not p["title"] or (p["type"] != "row" and not p["targets"]):
            yield f"panel {p['id']} is not whole"
        for target in p.get("targets", []):
            for fault in expression_faults(target["expr"], known, target["legendFormat"]):
                yield f"panel '{p['title']}': {fault}"


def variable_faults(variables, known):
    names = {v["name"] for v in variables}
    for name in {"datasource", "job", "service", "instance"} - names:
        yield f"no variable {name}"
    for v in variables:
        asked = re.fullmatch(r"label_values\((.*), (\w+)\)", v.get("definition", ""))
        if asked:
            for fault in expression_faults(asked.group(1), known, "{{" + asked.group(2) + "}}"):
                yield f"variable {v['name']}: {fault}"


def dashboard_faults(tree, known, path):
    try:
        board = json.loads(tree.text(path))
    except ValueError as why:
        yield f"{path}: {why}"
        return
    uid = os.path.splitext(os.path.basename(path))[0]
    made = subprocess.run([sys.executable, tree.path(MAKER), uid], capture_output=True, text=True, check=False)
    if made.returncode or made.stdout != tree.text(path):
        yield f"{path} is stale: {MAKER} {uid} > {path}"
    if path == WELL and len(board["panels"]) != WELL_PANELS:
        yield f"{path}: {len(board['panels'])} panels, not {WELL_PANELS}"
    used = set(re.findall(r"\$\{?(\w+)\}?", json.dumps(board["panels"]))) - {"__rate_interval"}
    for name in used - {v["name"] for v in board["templating"]["list"]}:
        yield f"{path}: no variable {name}"
    for fault in (*variable_faults(board["templating"]["list"], known), *panel_faults(board["panels"], known)):
        yield f"{path}: {fault}"


def faults(tree):
    for name in (RULES, TESTS, *DASHBOARDS, METRICS, RUNBOOKS):
        if not os.path.exists(tree.path(name)):
            yield f"{name} is missing"
            return
    known = families(tree)
    yield from rule_faults(tree, known)
    yield from runbook_faults(tree)
    for path in DASHBOARDS:
        yield from dashboard_faults(tree, known, path)


def _alert(expression, place="down"):
    return (f"      - alert: EvenkeelSeeded\n        expr: {expression}\n        annotations:\n"
            f"          runbook_url: docs/runbooks.md#{place}\n")


SEEDS = [
    ("an alert on a metric that is not there", RULES, _alert("evenkeel_nothing_total > 0"), "evenkeel_nothing_total is no metric"),
    ("an alert of another severity than the program's own", RULES, _alert("evenkeel_paused == 1", "paused"), "of the program is warning"),
    ("an alert on a label that is not there", RULES, _alert('evenkeel_ready{color="red"} > 0'), "has no label color"),
    ("a group by a label that is not there", RULES, _alert("sum by (color) (evenkeel_ready) > 0"), "the label color"),
    ("an alert without its place in the runbooks", RULES, _alert("evenkeel_ready == 0", "nowhere"), "leads to no place"),
    ("a section that no alert leads to", RUNBOOKS, "\n## Seeded\n", "no alert leads to #seeded"),
    ("a row of an alert that no rule has", RUNBOOKS, "\n`EvenkeelSeeded`\n", "no rule has the name EvenkeelSeeded"),
    ("an alert of our own that nobody wrote about", OWN, '\nstatic const struct kind X = {"seeded", "EvenkeelSeeded", EK_ALERT_INFO};\n',
     "seeded has no section"),
    ("an order where one only looks", RUNBOOKS, "\n**Look**: so\n\n```sh instance=run.yaml\nevenkeel pause -c run.yaml\n```\n",
     "is told to say 'evenkeel pause'"),
    ("an alert without a test", RULES, _alert("evenkeel_ready == 0"), "no test in which EvenkeelSeeded fires"),
    ("a dashboard that is no JSON", INTERNALS, "}\n", "Extra data"),
    ("a dashboard that is stale", MAKER, 'print("more")\n', "is stale"),
]
