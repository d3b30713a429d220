"""deploy/kubernetes: its files agree with each other and the program, and the output of kustomize is the intended
one."""
import base64
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import schemas
import yaml
from deploy_files import load, path, same, seconds, text

BASE, EXAMPLE = "kubernetes/base", "kubernetes/example"
COMPONENTS = ("keda", "prometheus-operator")
CONFIGURATION = ("evenkeel.yaml", "rules.yaml")
CLUSTER_WIDE = ("Namespace",)
TOKEN = "ana 0123456789-a-token-of-ana\n"


def folders():
    return [BASE, EXAMPLE, *(f"kubernetes/components/{name}" for name in COMPONENTS)]


def schemas_of_files(_):
    missing = set()
    for folder in folders():
        for name in sorted(os.listdir(path(folder))):
            if name.endswith(".yaml") and name not in CONFIGURATION:
                missing.add(schemas.validate(load(folder, name)))
    return ", ".join(sorted(missing - {None})) or None


def rules_are_a_spec(_):
    """As in docs/install.md, for a PrometheusRule."""
    return schemas.validate({"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "metadata": {"name": "evenkeel"},
                             "spec": load("prometheus", "evenkeel.rules.yml")})


def every_file_is_used(_):
    for folder in folders():
        kustomization = load(folder, "kustomization.yaml")
        generated = [f for each in kustomization.get("configMapGenerator", []) for f in each["files"]]
        used = {r for r in kustomization["resources"] if r.endswith(".yaml")} | set(generated) | {"kustomization.yaml"}
        same(folder, sorted(used), sorted(n for n in os.listdir(path(folder)) if n.endswith(".yaml")))


def configuration_fits(folder):
    config = load(folder, "evenkeel.yaml")
    spec = load(BASE, "statefulset.yaml")["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    same("mounts", set(mounts), {v["name"] for v in pod["volumes"]})
    same("configuration", container["args"][-1], mounts["config"] + "/evenkeel.yaml")
    for kind in ("manifest", "profile", "model"):
        same(kind, os.path.dirname(config["assets"][kind]), mounts["assets"])
    same("token", os.path.dirname(config["http"]["token_file"]), mounts["token"])
    same("port", config["http"]["listen"], f"0.0.0.0:{container['ports'][0]['containerPort']}")
    same("name of the pod", config["service"]["instance"], "${%s}" % container["env"][0]["name"])
    same("workers", str(config["pipeline"]["workers"]), container["resources"]["requests"]["cpu"])
    assert pod["terminationGracePeriodSeconds"] > 2 * seconds(config["service"]["shutdown_timeout"])


def files_fit(_):
    for folder in (BASE, EXAMPLE):
        configuration_fits(folder)
    spec = load(BASE, "statefulset.yaml")["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert all(container[f"{kind}Probe"]["httpGet"]["port"] == container["ports"][0]["name"]
               for kind in ("startup", "liveness", "readiness"))
    labels = spec["template"]["metadata"]["labels"]
    for name in (f"{BASE}/service", f"{BASE}/poddisruptionbudget", f"{BASE}/networkpolicy",
                 "kubernetes/components/prometheus-operator/servicemonitor"):
        rest = load(name + ".yaml")
        chosen = rest["spec"].get("podSelector") or rest["spec"]["selector"]
        same(name, chosen.get("matchLabels", chosen), labels)
    scaled = load("kubernetes/components/keda/scaledobject.yaml")["spec"]
    same("scaled", scaled["scaleTargetRef"]["name"], load(BASE, "statefulset.yaml")["metadata"]["name"])


def sinks_may_be_reached(_):
    """The network policy allows the sinks in the alert examples."""
    rules = load(BASE, "networkpolicy.yaml")["spec"]["egress"]
    let_through = {(to["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], port["port"])
                   for rule in rules for to in rule["to"] for port in rule["ports"]}
    for folder in (BASE, EXAMPLE):
        for namespace, port in re.findall(r"http://[\w-]+\.([\w-]+):(\d+)", text(folder, "evenkeel.yaml")):
            assert (namespace, int(port)) in let_through, f"{namespace}:{port}"


def metric_is_there(program):
    trigger = load("kubernetes/components/keda/scaledobject.yaml")["spec"]["triggers"][0]["metadata"]
    name = re.search(r"evenkeel_[a-z_]+", trigger["query"]).group(0)
    with open(program, "rb") as f:
        assert name.encode() in f.read(), name


def builder():
    folder = os.path.dirname(sys.executable)
    for name, word in (("kustomize", "build"), ("kubectl", "kustomize")):
        program = shutil.which(name) or shutil.which(name, path=folder)
        if program:
            return [program, word]
    return None


@contextlib.contextmanager
def copied():
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(path("kubernetes"), scratch, dirs_exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(scratch, "example", "token"))
        yield scratch


def build(folder):
    return subprocess.run([*builder(), folder], capture_output=True, text=True, check=False)


def built(folder):
    """Return {kind: resource}, one of each."""
    done = build(folder)
    assert done.returncode == 0, done.stderr
    resources = list(yaml.safe_load_all(done.stdout))
    same("kinds", len({r["kind"] for r in resources}), len(resources))
    for resource in resources:
        schemas.validate(resource)
    return {r["kind"]: r for r in resources}


def is_restricted(pod):
    """Check the pod security standard `restricted`, which the namespace requires."""
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    for container in pod["containers"]:
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False and security["capabilities"] == {"drop": ["ALL"]}
        assert security["readOnlyRootFilesystem"]
    same("volumes", {k for v in pod["volumes"] for k in v} - {"name"}, {"configMap", "persistentVolumeClaim", "secret"})


def base_is_built(_):
    if not builder():
        return "no kustomize and no kubectl"
    with copied() as folder:
        made = built(os.path.join(folder, "base"))
    assert "Secret" not in made, "everybody would know that token"
    same("of operators", [r["apiVersion"] for r in made.values() if r["apiVersion"] in schemas.OPERATORS], [])
    same("pods", made["StatefulSet"]["spec"]["replicas"], 2)
    is_restricted(made["StatefulSet"]["spec"]["template"]["spec"])
    same("namespace", made["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted")
    return None


def job_of(made, namespace):
    """Return the job of the metrics: the Prometheus operator sets it by `jobLabel`, before the relabelings."""
    spec = made["ServiceMonitor"]["spec"]
    labels = {"namespace": namespace, "job": made["Service"]["metadata"]["labels"][spec["jobLabel"]]}
    for rule in spec["endpoints"][0].get("relabelings", []):
        labels[rule["targetLabel"]] = rule.get("separator", ";").join(labels[name] for name in rule["sourceLabels"])
    return labels["job"]


def example_fits(made):
    namespace = made["Namespace"]["metadata"]["name"]
    for kind, resource in made.items():
        if kind not in CLUSTER_WIDE:
            same(f"namespace of {kind}", resource["metadata"]["namespace"], namespace)
    spec = made["StatefulSet"]["spec"]
    volumes = {v["name"]: v for v in spec["template"]["spec"]["volumes"]}
    same("configuration", volumes["config"]["configMap"]["name"], made["ConfigMap"]["metadata"]["name"])
    same("token", volumes["token"]["secret"]["secretName"], made["Secret"]["metadata"]["name"])
    same("mode of the token", volumes["token"]["secret"]["defaultMode"], 0o440)
    same("token", base64.b64decode(made["Secret"]["data"]["token"]).decode(), TOKEN)
    same("configuration", made["ConfigMap"]["data"]["evenkeel.yaml"], text(EXAMPLE, "evenkeel.yaml"))
    assert "replicas" not in spec, "it would undo what KEDA does"
    query = made["ScaledObject"]["spec"]["triggers"][0]["metadata"]["query"]
    assert f'namespace="{namespace}"' in query, query
    same("job", job_of(made, namespace), f"{namespace}/hotels")
    image = load(EXAMPLE, "kustomization.yaml")["images"][0]
    same("image", spec["template"]["spec"]["containers"][0]["image"], f"{image['newName']}:{image['newTag']}")


def example_is_built(_):
    if not builder():
        return "no kustomize and no kubectl"
    with copied() as folder:
        example = os.path.join(folder, "example")
        assert "token" in build(example).stderr, "it has a token of its own"
        with open(os.path.join(example, "token"), "w", encoding="utf-8") as f:
            f.write(TOKEN)
        example_fits(built(example))
        # Without an operator, the cluster omits its resources by one line.
        with open(os.path.join(example, "kustomization.yaml"), encoding="utf-8") as f:
            content = f.read()
        fewer = re.sub(r"^components:.*\n(?:  - .*\n)*", "", content, flags=re.M)
        fewer = re.sub(r"^  - target: \{kind: ScaledObject.*\n(?:    .*\n)*", "", fewer, flags=re.M)
        with open(os.path.join(example, "kustomization.yaml"), "w", encoding="utf-8") as f:
            f.write(fewer)
        same("pods", built(example)["StatefulSet"]["spec"]["replicas"], 2)
    return None


CASES = (schemas_of_files, rules_are_a_spec, every_file_is_used, files_fit, sinks_may_be_reached, metric_is_there,
         base_is_built, example_is_built)
