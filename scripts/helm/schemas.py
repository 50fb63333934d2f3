"""Every object against the schemas of the newest Kubernetes versions, and custom ones against models that
are made from their definitions. Knows nothing of the chart."""

import json
import os
import subprocess
from functools import lru_cache
from pathlib import Path

import kubernetes_validate
from kubernetes_validate import utils

VERSIONS = {utils.major_minor(version) for version in utils.all_versions()}
NEWEST = sorted(VERSIONS, key=lambda version: [int(part) for part in version.split(".")])[-3:]
CUSTOM = {"ExternalSecret", "HTTPRoute", "PrometheusRule", "ServiceMonitor"}

# The library reads a version's definitions anew for every object.
utils.schema_contents = lru_cache(maxsize=None)(utils.schema_contents)


def kubernetes(objects):
    """Kubernetes' objects keep to the schemas of its three newest versions"""
    for version in NEWEST:
        for name, thing in objects:
            if thing["kind"] not in CUSTOM:
                try:
                    utils.validate(thing, version, strict=True)
                except kubernetes_validate.ValidationError as error:
                    where = "/".join(map(str, error.path))
                    yield f"{name}: Kubernetes {version}: {where}: {error.message}"


def custom(objects):
    """custom objects keep to the models of their definitions"""
    things = [(name, thing) for name, thing in objects if thing["kind"] in CUSTOM]
    unseen = CUSTOM - {thing["kind"] for _, thing in things}
    if unseen:
        yield f"no example has a {', '.join(sorted(unseen))}"
    script = Path(__file__).with_name("models.mjs")
    command = ["node", script, os.environ["MODELS"]]
    done = subprocess.run(command, input=json.dumps(things), capture_output=True, text=True)
    yield from done.stdout.splitlines()
    if done.returncode:
        yield f"models.mjs: {done.stderr}"
