"""Runs Helm on the chart, and reads what comes out. What it should look like is for the checks to say."""

import os
import subprocess
from functools import lru_cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/helm/vestibule"
PLAIN_VALUES = ROOT / "deploy/kubernetes/values.yaml"
HELM = os.environ["HELM"]

# Everything that is rendered: by a name, and the value file, if there is one.
CASES = {"defaults": None, "plain": PLAIN_VALUES} | {
    path.stem: path for path in sorted((CHART / "examples").glob("*.yaml"))
}


def run(*arguments):
    """What Helm said, and whether it was content. It reads nobody's cluster by accident."""
    environment = os.environ | {"KUBECONFIG": "/dev/null", "HELM_DEBUG": "false"}
    done = subprocess.run([HELM, *map(str, arguments)], capture_output=True, text=True, env=environment)
    return done.returncode == 0, done.stdout if done.returncode == 0 else done.stderr + done.stdout


@lru_cache(maxsize=None)
def template(*arguments, values=None):
    """The text of all objects, as `helm install vestibule --namespace vestibule` would send them."""
    given = ["--values", values] if values else []
    fine, text = run("template", "vestibule", CHART, "--namespace", "vestibule", *given, *arguments)
    if not fine:
        raise AssertionError(f"helm template: {text}")
    return text


def objects(text):
    """The objects in a text."""
    return [document for document in yaml.safe_load_all(text) if document]


def named(documents, kind, name=None):
    """The objects of a kind, by name; only that one, if it is said which."""
    found = {d["metadata"]["name"]: d for d in documents if d["kind"] == kind}
    return found if name is None else found[name]
