#!/usr/bin/env python3
"""Whether every link from one of our documents to another leads somewhere: to a file that is there, and to a heading
in it. Addresses of others are not looked at."""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```", re.DOTALL)


def documents():
    """The documents that are, or are about to be, part of the project."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [path for path in map(Path, listed.splitlines()) if path.exists()]


def anchors(path):
    """How the headings of a document are called in links."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", CODE.sub("", path.read_text()), re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        found.add(re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-"))
    return found


def wrong(path, link):
    """What is wrong with a link of the document `path`; None: nothing."""
    if link.startswith(("http:", "https:", "mailto:")):
        return None
    name, _, heading = link.partition("#")
    target = path.parent / name if name else path
    if not target.exists():
        return "leads to nothing"
    if heading and target.suffix == ".md" and heading not in anchors(target):
        return "leads to no heading"
    return None


def main():
    bad = 0
    for path in documents():
        for link in LINK.findall(CODE.sub("", path.read_text())):
            if reason := wrong(path, link):
                print(f"{path}: {link} {reason}", file=sys.stderr)
                bad += 1
    if bad:
        sys.exit(1)
    print("links ok")


main()
