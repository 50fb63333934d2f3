"""The Secret that the chart makes: once, and the same ever after. As far as Helm shows it without a
cluster; `cluster.py` plays the part of one that has the Secret already."""

from base64 import b64decode, b64encode

from chart import CHART, named, objects, run, template
from cluster import cluster

NAME = "vestibule-keys"


def made(text):
    """The data of the Secret in a rendering; None if there is none."""
    secret = named(objects(text), "Secret").get(NAME)
    return secret and {key: b64decode(value).decode() for key, value in secret["data"].items()}


def asking(address):
    """The options by which Helm asks a cluster."""
    return ["--namespace=vestibule", "--dry-run=server", "--disable-openapi-validation", f"--kube-apiserver={address}"]


def are_made_once(_):
    """a generated Secret is random, kept by an upgrade, and never made in place of one that is gone"""
    first, second = made(template()), made(template("--skip-tests"))
    for key, least in (("secret", 32), ("api-token", 16)):
        if len(first[key]) < least or first[key] == second[key]:
            yield f"{key} is not random, or too short"

    kept = {"secret": "o" * 64, "api-token": "t" * 48}
    data = {key: b64encode(value.encode()).decode() for key, value in kept.items()}
    there = objects(template())
    with cluster(there, {NAME: data}) as address:
        for upgrade in ([], ["--is-upgrade"]):
            if made(template(*asking(address), *upgrade)) != kept:
                yield f"the Secret that is there is not kept: {upgrade or 'install'}"
    with cluster(there, {}) as address:
        fine, said = run("template", "vestibule", CHART, "--is-upgrade", *asking(address))
        if fine or f"{NAME} is gone" not in said:
            yield f"an upgrade makes another Secret in place of the one that is gone: {said}"

    if made(template("--set", "secrets.existingSecret=mine")) is not None:
        yield "a Secret is made although there is one"
