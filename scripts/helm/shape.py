"""What no schema can tell: whether the objects of a rendering fit together, what they show, and whether
the programs know what they are given."""

import json
import re
from itertools import groupby

import yaml

from chart import CHART, ROOT, named


def renderings(things):
    """The objects of each rendering."""
    for name, group in groupby(things, key=lambda thing: thing[0].split(":")[0]):
        yield name, [one for _, one in group]


def pods(objects):
    """The pods' labels, ports and specification, by Deployment."""
    for name, one in named(objects, "Deployment").items():
        template = one["spec"]["template"]
        ports = {port["name"] for port in template["spec"]["containers"][0]["ports"]}
        yield name, template["metadata"]["labels"], ports, template["spec"]


def parts_fit(things):
    """selectors find one Deployment each, and names of ports, Services and Secrets lead somewhere"""
    for rendering, objects in renderings(things):
        for problem in (*selectors(objects), *references(objects)):
            yield f"{rendering}: {problem}"


def selectors(objects):
    there = list(pods(objects))
    for one in objects:
        spec = one.get("spec", {})
        kind = one["kind"]
        if kind == "Service":
            selector, wanted = spec["selector"], {port["targetPort"] for port in spec["ports"]}
        elif kind == "NetworkPolicy":
            selector = spec["podSelector"]["matchLabels"]
            wanted = {port["port"] for rule in spec["ingress"] for port in rule["ports"]}
        elif kind in ("Deployment", "PodDisruptionBudget"):
            selector, wanted = spec["selector"]["matchLabels"], set()
        else:
            continue
        found = [(name, ports) for name, labels, ports, _ in there if selector.items() <= labels.items()]
        who = f"{kind}/{one['metadata']['name']}"
        if len(found) != 1:
            yield f"{who} selects {len(found)} Deployments"
        elif not wanted <= found[0][1]:
            yield f"{who}: {found[0][0]} has no port {wanted - found[0][1]}"


def references(objects):
    services = {
        name: {port["name"]: port["port"] for port in one["spec"]["ports"]}
        for name, one in named(objects, "Service").items()
    }
    for name, one in named(objects, "Ingress").items():
        for rule in one["spec"]["rules"]:
            backend = rule["http"]["paths"][0]["backend"]["service"]
            if backend["port"]["name"] not in services.get(backend["name"], {}):
                yield f"Ingress/{name} leads nowhere"
    for name, one in named(objects, "HTTPRoute").items():
        backend = one["spec"]["rules"][0]["backendRefs"][0]
        if backend["port"] not in services.get(backend["name"], {}).values():
            yield f"HTTPRoute/{name} leads nowhere"
    for name, one in named(objects, "HorizontalPodAutoscaler").items():
        target = named(objects, "Deployment").get(one["spec"]["scaleTargetRef"]["name"])
        if not target or "replicas" in target["spec"]:
            yield f"HorizontalPodAutoscaler/{name} scales nothing, or what says its number itself"
    for name, one in named(objects, "ServiceMonitor").items():
        wanted = one["spec"]["selector"]["matchLabels"].items()
        found = [s for s in named(objects, "Service").values() if wanted <= s["metadata"]["labels"].items()]
        if len(found) != 2:
            yield f"ServiceMonitor/{name} finds {len(found)} Services"
    accounts = named(objects, "ServiceAccount").keys() | {"default"}
    for name, _, _, spec in pods(objects):
        if spec["serviceAccountName"] not in accounts:
            yield f"{name} has an account that is not there"
        mounts = {mount["name"] for mount in spec["containers"][0]["volumeMounts"]}
        if mounts != {volume["name"] for volume in spec["volumes"]}:
            yield f"{name}: volumes and mounts differ"
    for one in objects:
        if one["metadata"].get("namespace") != "vestibule":
            yield f"{one['kind']}/{one['metadata']['name']} is in no namespace"


def nothing_secret_is_shown(things):
    """secrets are in Secrets: not in arguments, variables, ConfigMaps or annotations, and each service has its own"""
    secret = re.compile(r"_(SECRET|SECRET_PREVIOUS|TOKENS?|KEYS|HEADERS)$")
    for rendering, objects in renderings(things):
        for name, _, _, spec in pods(objects):
            (container,) = spec["containers"]
            if "args" in container or "command" in container:
                yield f"{rendering}: {name} has arguments"
            for variable in container["env"]:
                if "value" in variable and (secret.search(variable["name"]) or "@" in variable["value"]):
                    yield f"{rendering}: {name} shows {variable['name']}"
            (keys,) = (v["secret"]["items"] for v in spec["volumes"] if v["name"] == "keys")
            if name.endswith("admission") and any("token" in item["key"] for item in keys):
                yield f"{rendering}: admission has the operators' token"
        if rendering == "plain" and named(objects, "Secret"):
            yield "the plain manifest has a Secret"


def pods_end_in_time(things):
    """pods have the time to end that the sleep before SIGTERM and the grace after it take"""
    for rendering, objects in renderings(things):
        for name, _, _, spec in pods(objects):
            (container,) = spec["containers"]
            sleep = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
            variables = {one["name"]: one.get("value") for one in container["env"]}
            grace = int(variables["VESTIBULE_SHUTDOWN_GRACE_SECONDS"])
            if spec["terminationGracePeriodSeconds"] <= sleep + grace + 1:
                yield f"{rendering}: {name} is killed before its grace ends"


def variables_are_known(things):
    """the programs know every variable that they are given"""
    sources = [*(ROOT / "shared/runtime/src").rglob("*.rs"), *(ROOT / "services").rglob("*.rs")]
    known = set(re.findall(r'"(VESTIBULE_\w+)"', "".join(source.read_text() for source in sources)))
    for rendering, objects in renderings(things):
        for name, _, _, spec in pods(objects):
            for variable in spec["containers"][0]["env"]:
                if variable["name"].startswith("VESTIBULE_") and variable["name"] not in known:
                    yield f"{rendering}: {name} is given {variable['name']}, which nobody knows"


def joins_are_counted(_):
    """the metric to scale by counts exactly the calls that join a line"""
    adapter = yaml.safe_load((CHART / "files/prometheus-adapter.yaml").read_text())
    (rule,) = adapter["rules"]["custom"]
    paths = json.loads((ROOT / "openapi/admission.json").read_text())["paths"]
    posted = {path: calls["post"]["operationId"] for path, calls in paths.items() if "post" in calls}
    for query in (rule["seriesQuery"], rule["metricsQuery"]):
        route = re.search(r'route=~"([^"]+)"', query)[1]
        counted = {operation for path, operation in posted.items() if re.fullmatch(route, path)}
        if counted != {"join_room", "assign_queue_num"}:
            yield f"{route} counts {sorted(counted)}"
