"""The policy linter, checkov, over every rendering. Its exceptions, with reasons, are in
deploy/helm/checkov.yaml."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from chart import CASES, ROOT, template

EXCEPTIONS = ROOT / "deploy/helm/checkov.yaml"


def policies(_):
    """the policy linter finds nothing that is not explained, and all that is"""
    explained = set(yaml.safe_load(EXCEPTIONS.read_text())["skip-check"])
    found = checkov()
    for finding in found:
        if finding["check_id"] not in explained:
            where = f"{Path(finding['file_path']).stem}: {finding['resource']}"
            yield f"{where}: {finding['check_id']} {finding['check_name']}"
    for rule in sorted(explained - {finding["check_id"] for finding in found}):
        yield f"{EXCEPTIONS.name}: nothing is an exception of {rule} any more"


def checkov():
    """All that it finds, the exceptions included."""
    with TemporaryDirectory() as folder:
        for name, values in CASES.items():
            (Path(folder) / f"{name}.yaml").write_text(template(values=values))
        options = ["--framework", "kubernetes", "--skip-download", "--quiet", "--output", "json"]
        done = subprocess.run(
            [sys.executable, "-m", "checkov.main", "-d", folder, *options],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": os.environ["CHECKOV"], "LOG_LEVEL": "ERROR"},
        )
    report = json.loads(done.stdout)
    if not report.get("summary", {}).get("passed"):
        raise AssertionError(f"checkov has looked at nothing: {done.stderr}")
    return report["results"]["failed_checks"]
