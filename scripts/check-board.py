#!/usr/bin/env python3
"""Whether Grafana's own model of boards takes ours: reads it, writes it again, and says what got lost or changed on the
way, which is what the model does not know. It stands in for Grafana, which no package registry has: nothing is drawn.
"""

import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard


def differences(ours, theirs, path=""):
    """Where `theirs` lacks something of `ours`, or has something else. What it adds are defaults."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            if key in theirs:
                yield from differences(value, theirs[key], f"{path}.{key}")
            elif value not in (None, [], {}):
                yield f"{path}.{key} is unknown"
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for nth, (our, their) in enumerate(zip(ours, theirs)):
            yield from differences(our, their, f"{path}[{nth}]")
    elif ours != theirs:
        yield f"{path} is {ours!r}, and read as {theirs!r}"


register_default_plugins()
wrong = []
for file in sys.argv[1:]:
    board = json.loads(Path(file).read_text())
    read = Dashboard.from_json(board)
    written = json.loads(JSONEncoder(sort_keys=True).encode(read))
    wrong += [f"{file}: {difference}" for difference in differences(board, written)]
    print(f"{file}: {len(read.panels)} panels are as Grafana's model has them")
if wrong:
    sys.exit("\n".join(wrong))
