#!/usr/bin/env python3
"""Whether alarms, their tests, their pages, the board and the table of metrics fit together.

An alarm has the same name in the rules and in docs/runbooks, where its page is and a row of the table; at least one test
in which it fires, and one in which it does not. Every metric that a rule or a panel names is in docs/metrics.md. Whether
the rules say what is meant is for promtool: see alerts.sh.
"""

import json
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "deploy/prometheus/rules"
TESTS = ROOT / "deploy/prometheus/tests"
BOARDS = ROOT / "deploy/grafana/dashboards"
RUNBOOKS = ROOT / "docs/runbooks"
METRICS = ROOT / "docs/metrics.md"
SEVERITIES = {"critical", "warning", "info"}
# What every page tells, in this order.
SECTIONS = ["What it means", "What visitors see", "How to find out", "How to mend"]
PARTS_OF_A_HISTOGRAM = ("_bucket", "_count", "_sum")

wrong = []


def expect(holds, what):
    if not holds:
        wrong.append(what)


def rules():
    """All rules of all files."""
    for file in sorted(RULES.glob("*.yml")):
        for group in yaml.safe_load(file.read_text())["groups"]:
            yield from group["rules"]


def tests():
    """For each alarm: in how many tests it fires, and in how many it does not."""
    counts = {}
    for file in sorted(TESTS.glob("*.yml")):
        for group in yaml.safe_load(file.read_text())["tests"]:
            for test in group.get("alert_rule_test", []):
                fires = bool(test.get("exp_alerts"))
                counts.setdefault(test["alertname"], {True: 0, False: 0})[fires] += 1
    return counts


def table_of(file, first):
    """The rows of the tables in a Markdown file whose first cell begins like this, as lists of cells."""
    rows = [line for line in file.read_text().splitlines() if line.startswith("| " + first)]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def check_alarm(rule, counts):
    name = rule["alert"]
    page = f"docs/runbooks/{name}.md"
    expect(re.fullmatch(r"Vestibule[A-Z][A-Za-z]+", name), f"{name}: not a name like VestibuleNoLeader")
    expect("for" in rule, f"{name}: says no `for`")
    expect(rule.get("labels", {}).get("severity") in SEVERITIES, f"{name}: severity is none of {SEVERITIES}")
    annotations = rule.get("annotations", {})
    expect(annotations.get("summary"), f"{name}: no summary")
    expect(annotations.get("runbook") == page, f"{name}: `runbook` is not {page}")
    expect((ROOT / page).is_file(), f"{name}: there is no {page}")
    found = counts.get(name, {True: 0, False: 0})
    expect(found[True], f"{name}: no test in which it fires")
    expect(found[False], f"{name}: no test in which it does not")


def check_page(file, names):
    name, text = file.stem, file.read_text()
    expect(name in names, f"{file.name}: there is no such alarm")
    expect(text.startswith(f"# {name}\n"), f"{file.name}: does not begin with its alarm's name")
    expect(re.findall(r"^## (.+)$", text, re.M) == SECTIONS, f"{file.name}: its sections are not {SECTIONS}")


def check_table(alarms):
    """The table of alarms says of each what the rule does."""
    rows = {}
    for name, severity, wait, *_ in table_of(RUNBOOKS / "README.md", "[Vestibule"):
        rows[re.match(r"\[(\w+)\]\(\1\.md\)$", name)[1]] = (severity, wait)
    ours = {rule["alert"]: (rule["labels"]["severity"], str(rule["for"])) for rule in alarms}
    for name in sorted(rows.keys() | ours.keys()):
        expect(rows.get(name) == ours.get(name), f"docs/runbooks/README.md: {name}: {rows.get(name)}, not {ours.get(name)}")


def panels(board):
    """All panels of a board, those in rows included."""
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])


def check_panels(file):
    """What Grafana would not say before somebody looks. Returns the queries."""
    board = json.loads(file.read_text())
    expect(board.get("uid") and board.get("title"), f"{file.name}: no uid, or no title")
    seen, queries = set(), [query["query"]["query"] for query in board["templating"]["list"] if query["type"] == "query"]
    for panel in panels(board):
        title = f"{file.name}: {panel.get('title')}"
        expect(panel["id"] not in seen, f"{title}: id {panel['id']} is another's")
        seen.add(panel["id"])
        place = panel["gridPos"]
        expect(place["x"] + place["w"] <= 24, f"{title}: wider than the board")
        if panel["type"] in ("row", "text"):
            continue
        expect(panel.get("description"), f"{title}: says not what it shows")
        expect(panel["fieldConfig"]["defaults"].get("unit"), f"{title}: no unit")
        expect(panel.get("targets"), f"{title}: no query")
        queries += [target["expr"] for target in panel.get("targets", [])]
    return queries


def check_metrics(queries):
    known = {row[0].strip("`") for row in table_of(METRICS, "`vestibule_")}
    for where, query in queries:
        for name in re.findall(r"\bvestibule_\w+", query):
            ends = [name.removesuffix(part) for part in PARTS_OF_A_HISTOGRAM]
            expect(known & {name, *ends}, f"{where}: {name} is not in docs/metrics.md")


def main():
    alarms = [rule for rule in rules() if "alert" in rule]
    counts = tests()
    names = {rule["alert"] for rule in alarms}
    expect(len(names) == len(alarms), "two alarms have one name")
    for rule in alarms:
        check_alarm(rule, counts)
    pages = [file for file in sorted(RUNBOOKS.glob("*.md")) if file.name != "README.md"]
    for file in pages:
        check_page(file, names)
    check_table(alarms)
    queries = [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()]
    shown = [(file.name, query) for file in sorted(BOARDS.glob("*.json")) for query in check_panels(file)]
    expect(shown, "the board asks nothing")
    check_metrics(queries + shown)
    if wrong:
        sys.exit("\n".join(wrong))
    fires, quiet = (sum(count[kind] for count in counts.values()) for kind in (True, False))
    print(f"{len(alarms)} alarms and pages, {fires} tests that fire, {quiet} that do not, {len(shown)} queries of boards")


main()
