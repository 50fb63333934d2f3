"""Files that are made from others: the plain manifest, the chart's copies of rules and boards, and the
table of values. `make helm-write` writes them; the check compares."""

import json
import re

import yaml

from chart import CHART, PLAIN_VALUES, ROOT, template

MANIFEST = ROOT / "deploy/kubernetes/vestibule.yaml"
README = CHART / "README.md"
BEGIN, END = "<!-- values: written by `make helm-write` -->\n", "<!-- end of values -->\n"

# Where the originals are, and where in the chart their copies: Helm reads nothing outside of it.
COPIES = [
    (ROOT / "deploy/prometheus/rules", "*.yml", CHART / "files/rules"),
    (ROOT / "deploy/grafana/dashboards", "*.json", CHART / "files/dashboards"),
]

HEAD = """\
# Vestibule on Kubernetes without Helm: what the chart in deploy/helm/vestibule renders with values.yaml
# beside this file. Written by `make helm-write`: change the chart or these values, not this.
#
# First the namespace, then the Secret, which is not in any file; then everything:
#
#   kubectl create namespace vestibule
#   kubectl label namespace vestibule pod-security.kubernetes.io/enforce=restricted
#   kubectl -n vestibule create secret generic vestibule \\
#     --from-literal=secret="$(openssl rand -hex 32)" \\
#     --from-literal=api-token="$(openssl rand -hex 32)" \\
#     --from-literal=redis-url='rediss://USER:PASSWORD@HOST:6379'
#   kubectl apply -f vestibule.yaml
#
# Keep a copy of the Secret: rooms and tickets are worth nothing without it. Put the names of your images
# in place of `vestibule-admission:…` and `vestibule-controller:…`. See docs/kubernetes.md.
"""


def manifest():
    """The plain manifest: without the traces of Helm, which will not manage it."""
    lines = template(values=PLAIN_VALUES).splitlines(keepends=True)
    traces = re.compile(r"\s*(app\.kubernetes\.io/managed-by|helm\.sh/chart):|# Source:")
    return HEAD + "".join(line for line in lines if line.strip() and not traces.match(line))


def copies():
    """What the copies should be: text by path."""
    return {
        folder / original.name: original.read_text()
        for source, pattern, folder in COPIES
        for original in sorted(source.glob(pattern))
    }


def stale_copies():
    """Copies whose originals are gone."""
    wanted = copies()
    there = {path for _, pattern, folder in COPIES for path in folder.glob(pattern)}
    return sorted(there - set(wanted))


def values_table():
    """The table of values: name, default, and the comment above it in values.yaml."""
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    rows = ["| value | default | |", "|---|---|---|"]
    for path, comment in commented():
        value = defaults
        for name in path:
            value = value[name]
        default = value if isinstance(value, str) and value else json.dumps(value)
        cells = [f"`{'.'.join(path)}`", f"`{default}`" if value != "" else "", comment]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def commented():
    """Every value of values.yaml with the line of comment above it. A name without one, and with nothing
    after it, is a group; whatever is further in than a value belongs to that value."""
    path, comment, value_at = [], "", None
    for number, line in enumerate((CHART / "values.yaml").read_text().splitlines(), 1):
        found = re.match(r"(?P<indent> *)(# (?P<comment>.*)|(?P<name>\w+):(?P<rest>.*))?", line)
        depth = len(found["indent"]) // 2
        if value_at is not None and depth > value_at:
            continue
        value_at = None
        if found["name"]:
            path = path[:depth] + [found["name"]]
            if comment:
                yield tuple(path), comment
                value_at = depth
            elif found["rest"]:
                raise AssertionError(f"values.yaml:{number}: {'.'.join(path)} has no comment above it")
        comment = found["comment"] or ""


def readme():
    """The chart's README with the table of today's values."""
    text = README.read_text()
    before, rest = text.split(BEGIN, 1)
    return before + BEGIN + values_table() + END + rest.split(END, 1)[1]


def wanted():
    """What each file should be: text by path."""
    return {MANIFEST: manifest(), README: readme()} | copies()


def is_up_to_date(_):
    """the plain manifest, the table of values and the copies of rules and boards are today's"""
    for path, text in wanted().items():
        if not path.exists() or path.read_text() != text:
            yield f"{path.relative_to(ROOT)} is not: `make helm-write`"
    for path in stale_copies():
        yield f"{path.relative_to(ROOT)} is a copy of nothing: `make helm-write`"


def write():
    """Writes them."""
    # The copies come first: they may be in what is rendered.
    for path in stale_copies():
        path.unlink()
    for make in (copies, wanted):
        for path, text in make().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
