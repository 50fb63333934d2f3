"""A cluster that knows the kinds of some objects, and has some Secrets: enough of an API server for
Helm's `lookup`. It takes nothing, and runs nothing."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from threading import Thread

NOT_FOUND = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}


# Helm touches only what says that it is the release's.
OF_THE_RELEASE = {
    "labels": {"app.kubernetes.io/managed-by": "Helm"},
    "annotations": {
        "meta.helm.sh/release-name": "vestibule",
        "meta.helm.sh/release-namespace": "vestibule",
    },
}


@contextmanager
def cluster(objects, secrets):
    """Its address, while it is there. `objects`: whose kinds it knows; `secrets`: data by name."""
    answers = discovery({(one["apiVersion"], one["kind"]) for one in objects} | {("v1", "Secret")})
    for name, data in secrets.items():
        metadata = {"name": name, "namespace": "vestibule"} | OF_THE_RELEASE
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
        answers[f"/api/v1/namespaces/vestibule/secrets/{name}"] = secret

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            answer = answers.get(self.path.split("?")[0])
            body = json.dumps(answer or NOT_FOUND).encode()
            self.send_response(200 if answer else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def discovery(kinds):
    """What the server says of itself: its kinds, by version of their group."""
    answers = {
        "/version": {"major": "1", "minor": "37", "gitVersion": "v1.37.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
    }
    groups = []
    for api, members in groupby(sorted(kinds), key=lambda kind: kind[0]):
        resources = [
            {"name": f"{kind.lower()}s", "namespaced": True, "kind": kind, "verbs": ["get", "create"]}
            for _, kind in members
        ]
        path = f"/api/{api}" if api == "v1" else f"/apis/{api}"
        answers[path] = {"kind": "APIResourceList", "groupVersion": api, "resources": resources}
        if api != "v1":
            version = {"groupVersion": api, "version": api.split("/")[1]}
            groups.append({"name": api.split("/")[0], "versions": [version], "preferredVersion": version})
    answers["/apis"] = {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    return answers
