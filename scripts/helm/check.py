"""`make helm`: every check of the chart, each with what it found. With `--write`, writes instead what is
made from the chart and its values."""

import sys
import time

import linter
import refusals
import schemas
import secrets_kept
import shape
import written
from chart import CASES, CHART, objects, run, template


def lint(_):
    """helm lint is content"""
    for name, values in CASES.items():
        given = ["--values", values] if values else []
        fine, text = run("lint", "--strict", CHART, *given)
        if not fine:
            yield f"{name}: {text}"


def notes(_):
    """what is said after an install names the Secret, or the metric that is needed"""
    for name, expected in (("defaults", "vestibule-keys was made for you"), ("production", "as: vestibule_joins")):
        given = ["--values", CASES[name]] if CASES[name] else []
        fine, text = run("install", "vestibule", CHART, "--dry-run=client", "--namespace", "vestibule", *given)
        if not fine or expected not in text.split("NOTES:")[-1]:
            yield f"{name}: {text}"


CHECKS = [
    lint,
    notes,
    schemas.kubernetes,
    schemas.custom,
    shape.parts_fit,
    shape.nothing_secret_is_shown,
    shape.pods_end_in_time,
    shape.variables_are_known,
    shape.joins_are_counted,
    refusals.what_is_wrong_is_refused,
    secrets_kept.are_made_once,
    written.is_up_to_date,
    linter.policies,
]


def said_by(one, things):
    """What a check has found; that it could not go on is a finding, too."""
    problems = []
    try:
        problems.extend(one(things))
    except AssertionError as error:
        problems.append(str(error))
    return problems


def check():
    begin = time.monotonic()
    things = []
    for name, values in CASES.items():
        found = objects(template(values=values))
        things += [(f"{name}: {one['kind']}/{one['metadata']['name']}", one) for one in found]
    found = 0
    for one in CHECKS:
        problems = said_by(one, things)
        print(f"{'ok    ' if not problems else 'FAILED'} {one.__doc__}", flush=True)
        for problem in problems:
            print(f"       {problem}")
        found += len(problems)
    seconds = time.monotonic() - begin
    print(f"{len(things)} objects of {len(CASES)} renderings, {seconds:.0f} s")
    return 1 if found else 0


def main():
    if sys.argv[1:] == ["--write"]:
        written.write()
        return 0
    if sys.argv[1:]:
        print("usage: check-helm.sh [--write]", file=sys.stderr)
        return 2
    return check()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as error:
        sys.exit(f"error: {error}")
