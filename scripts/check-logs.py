#!/usr/bin/env python3
"""Checks that docs/logs.md has every event that the services log, with its level and fields, and no other.

Reads the calls of `tracing`'s macros in services/* and shared/*, tests left out. In messages, what is put in (`{what}`)
is compared as `{…}`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "logs.md"
CALL = re.compile(r"\btracing::(error|warn|info|debug|trace)!\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Of every line, and of those in a recorded trace.
OF_ALL = {"timestamp", "level", "target", "message", "trace_id", "span_id"}


def source(path):
    """The text of a file without comments and tests."""
    text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
    return re.split(r"^#\[cfg\(test\)\]\s*mod tests \{", text, maxsplit=1, flags=re.M)[0]


def arguments(text):
    """What stands between the parentheses that open before `text`, split at its commas."""
    depth, begin, position, found = 1, 0, 0, []
    while depth:
        char = text[position]
        if char == '"':
            position = STRING.match(text, position).end()
            continue
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if depth == 0 or (char == "," and depth == 1):
            found.append(text[begin:position].strip())
            begin = position + 1
        position += 1
    return [argument for argument in found if argument]


def event(level, call):
    """The event of one call: level, message, fields."""
    call = [one for one in call if not one.startswith("target:")]
    *fields, message = call
    text = STRING.fullmatch(message)
    if text is None:
        sys.exit(f"error: the message must be a text: {message}")
    message = re.sub(r"\{[^}]*\}", "{…}", text.group(1))
    names = (re.split(r"\s*=(?!=)", field)[0].strip().lstrip("%?") for field in fields)
    return level, message, frozenset(names)


def logged():
    """Every event in the code, with the file that it is in. The same message may have other fields elsewhere."""
    events = {}
    for folder in ["services", "shared"]:
        for path in sorted((ROOT / folder).glob("*/src/**/*.rs")):
            if path.stem == "tests":
                continue
            text = source(path)
            for call in CALL.finditer(text):
                level, message, fields = event(call.group(1), arguments(text[call.end() :]))
                known, _ = events.get((level, message), (frozenset(), None))
                events[level, message] = (known | fields, path.relative_to(ROOT))
    return events


def rows():
    """The cells of each row of the document's tables."""
    for line in DOCUMENT.read_text().splitlines():
        if line.startswith("| "):
            yield re.split(r"\s*\|\s*", line.strip().strip("|").strip())


def documented():
    """The events of the document, and the fields that it explains."""
    events, fields = {}, set()
    for cells in rows():
        if cells[0] in ("error", "warn", "info", "debug", "trace"):
            events[cells[0], cells[1]] = frozenset(re.findall(r"`([^`]+)`", cells[2]))
        elif cells[0].startswith("`"):
            fields |= set(re.findall(r"`([^`]+)`", cells[0]))
    return events, fields


def main():
    """Compares the two, both ways."""
    code, (events, explained) = logged(), documented()
    wrong = []
    for (level, message), (fields, path) in sorted(code.items()):
        listed = events.pop((level, message), None)
        if listed is None:
            wrong.append(f"{path}: {level} {message!r} is missing")
        elif listed != fields:
            wrong.append(f"{path}: {message!r} has the fields {sorted(fields)}, not {sorted(listed)}")
        for field in sorted(fields - explained - OF_ALL):
            wrong.append(f"{path}: the field {field!r} is not explained")
    used = frozenset().union(*(fields for fields, _ in code.values()))
    wrong += [f"nothing logs {level} {message!r}" for level, message in sorted(events)]
    wrong += [f"nothing has the field {field!r}" for field in sorted(explained - used)]
    if wrong:
        sys.exit("error: docs/logs.md does not say what the services log:\n  " + "\n  ".join(wrong))
    print("logs ok")


main()
