#!/usr/bin/env python3
"""Checks that no two modules of a crate import each other, unless one contains the other.

Reads the `use` declarations and `crate::` paths of services/*, shared/*, simulation/* and tools/*,
tests left out, and compares two modules at the level where their paths part: `page::live` and `flows::join` count as
`page` and `flows`. Names that lib.rs re-exports are not followed to their modules.
"""

import pathlib
import re
import sys
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["services", "shared", "simulation", "tools"]
TESTS = {"tests", "testing", "test_support"}
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")


def source(path):
    """The text of a file without comments and tests."""
    text = re.sub(r"//.*", "", path.read_text())
    return re.split(r"^#\[cfg\(test\)\]\s*mod tests", text, maxsplit=1, flags=re.M)[0]


def use_paths(tree, prefix=()):
    """The paths of a use tree: `a::{b, c::d}` are a::b and a::c::d."""
    depth, part, parts = 0, "", []
    for char in tree + ",":
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += char
    for part in filter(None, parts):
        head, brace, rest = part.partition("{")
        names = tuple(name.strip() for name in head.split(" as ")[0].split("::") if name.strip())
        if brace:
            yield from use_paths(rest.rpartition("}")[0], prefix + names)
        else:
            yield prefix + names


def modules(src):
    """Module paths of a crate, with their files."""
    found = {}
    for path in sorted(src.rglob("*.rs")):
        names = path.relative_to(src).with_suffix("").parts
        names = names[:-1] if names[-1] == "mod" else names
        names = () if names in [("lib",), ("main",)] else names
        if not TESTS & set(names) and not (names == () and path.name == "main.rs"):
            found[names] = path
    return found


def longest_module(path, known):
    """The module that a path from the crate's root leads into."""
    while path not in known:
        path = path[:-1]
    return path


def absolute(path, module, known):
    """A path as seen in `module`, from the crate's root; None if it leads to another crate."""
    if path[0] == "crate":
        return path[1:]
    if path[0] == "self":
        return module + path[1:]
    if path[0] == "super":
        while path and path[0] == "super":
            module, path = module[:-1], path[1:]
        return module + path
    return module + path if module + path[:1] in known else None


def imports(src):
    """Pairs of a module and one that it imports."""
    known = modules(src)
    for module, path in known.items():
        text = source(path)
        used = [p for _, tree in USE.findall(text) for p in use_paths(tree)]
        rest = USE.sub("", text)
        used += [("crate", *p.split("::")) for p in re.findall(r"\bcrate::([\w:]+)", rest)]
        for used_path in used:
            target = absolute(used_path, module, known) if used_path else None
            if target is not None:
                yield module, longest_module(target, known)


def circles(src):
    """Pairs of modules that import each other, each with the imports."""
    edges = defaultdict(set)
    for module, target in imports(src):
        common = 0
        while module[common : common + 1] == target[common : common + 1] != ():
            common += 1
        if common < min(len(module), len(target)):
            edges[module[: common + 1], target[: common + 1]].add((module, target))
    for (one, other), there in sorted(edges.items()):
        if one < other and (other, one) in edges:
            yield one, other, sorted(there | edges[other, one])


def main():
    wrong = False
    for src in sorted(src for folder in FOLDERS for src in ROOT.glob(f"{folder}/*/src")):
        for one, other, between in circles(src):
            wrong = True
            crate = src.parent.name
            print(f"{crate}: {'::'.join(one)} and {'::'.join(other)} import each other:")
            for module, target in between:
                print(f"  {'::'.join(module)} imports {'::'.join(target)}")
    sys.exit("modules import each other" if wrong else None)


if __name__ == "__main__":
    main()
