"""Values that are wrong, and what whoever gives them is told."""

from concurrent.futures import ThreadPoolExecutor

from chart import CHART, run

# What is set, and what the error must say.
WRONG = [
    ("admission.replica=3", "'replica' not allowed"),
    ("admision.replicas=3", "'admision' not allowed"),
    ("admission.replicas=three", "/admission/replicas"),
    ("controller.preStopSleepSeconds=-1", "/controller/preStopSleepSeconds"),
    ("admission.service.type=Loadbalancer", "/admission/service/type"),
    ("admission.image.digest=sha256:abc", "/admission/image/digest"),
    ("admission.ingress.enabled=true", "/admission/ingress/hosts"),
    ("trustedProxies={ingress}", "/trustedProxies/0"),
    ("region=far away", "/region"),
    ("env.HISTORY=/tmp", "'HISTORY' not allowed"),
    ("env.VESTIBULE_SECRET=tell-nobody", "VESTIBULE_SECRET is a secret"),
    ("controller.env.VESTIBULE_API_TOKENS=tell-nobody", "VESTIBULE_API_TOKENS is a secret"),
    ("extraVolumes[0].name=history", "/extraVolumes/0"),
    (
        "extraVolumes[0].name=tls,extraVolumes[0].emptyDir.medium=Memory",
        "a name of the chart's own",
    ),
    (
        "extraVolumes[0].name=history,extraVolumes[0].emptyDir.medium=Memory",
        "extraVolumeMounts mounts nowhere",
    ),
    (
        "extraVolumeMounts[0].name=history,extraVolumeMounts[0].mountPath=/history",
        "which is not in extraVolumes",
    ),
    ("redis.url=redis://me:tell-nobody@redis", "redis.url has a user or a password"),
    ("redis.url=https://tell-nobody", "redis.url must begin with"),
    ("secrets.keys.apiTokens=tokens", "secrets.keys.apiTokens is for a Secret of yours"),
    ("secrets.keys.sigv4Keys=keys", "secrets.keys.sigv4Keys is for a Secret of yours"),
    ("controller.env.VESTIBULE_SIGV4_KEYS=tell-nobody", "VESTIBULE_SIGV4_KEYS is a secret"),
    ("secrets.externalSecret.enabled=true", "secrets.externalSecret needs"),
    ("controller.clientCaSecret=ca", "controller.clientCaSecret needs"),
    ("admission.grpc.enabled=true", "networkPolicy.grpcFrom"),
    ("monitoring.serviceMonitor.enabled=true", "networkPolicy.metricsFrom"),
    ("controller.ingress.enabled=true,controller.ingress.hosts={a.example}", "networkPolicy.controllerFrom"),
    ("admission.autoscaling.minReplicas=21", "minReplicas is more than maxReplicas"),
]


def what_is_wrong_is_refused(_):
    """wrong values are refused, and the error says where and repeats no secret"""
    with ThreadPoolExecutor() as pool:
        said = pool.map(lambda wrong: run("template", "vestibule", CHART, "--set", wrong[0]), WRONG)
        for (values, expected), (fine, text) in zip(WRONG, said):
            if fine:
                yield f"--set {values} is accepted"
            elif expected not in text:
                yield f"--set {values}: the error does not say `{expected}`: {text}"
            elif "tell-nobody" in text:
                yield f"--set {values}: the error repeats the secret"
