"""deploy/helm/evenkeel: rendered by Helm, it has the resources of deploy/kubernetes, and invalid values are rejected."""
import copy
import os
import re

import cluster
import schemas
import yaml
from deploy_files import TOP, load, path, same

try:
    import helm_python
except ImportError:
    helm_python = None

CHART = path("helm", "evenkeel")
NO_HELM = "no Python module helm_python"
OPERATORS = {"keda": {"enabled": True}, "serviceMonitor": {"enabled": True}}
OF_HELM = {"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"}
BASE_FILES = ("networkpolicy", "poddisruptionbudget", "service", "serviceaccount", "statefulset")
COMPONENT_FILES = ("keda/scaledobject", "prometheus-operator/servicemonitor")
# Each of them makes the chart fail.
INVALID = ({"replica": 3}, {"replicas": "3"}, {"image": {"repository": ""}}, {"networkPolicy": {"kafkaPorts": [70000]}},
           {"config": {"http": {"listen": "127.0.0.1:9464"}}}, {"keda": {"max": 3}}, {"serviceMonitor": {"interval": "often"}})


def rendered(values=None, name="evenkeel", namespace="evenkeel"):
    """Return {kind: resource}, one of each, checked against their schemas."""
    with helm_python.Chart.load(CHART) as chart:
        made = chart.render(values or {}, name=name, namespace=namespace)
    resources = [r for file, text in made.items() if file.endswith(".yaml") for r in yaml.safe_load_all(text) if r]
    same("kinds", len({r["kind"] for r in resources}), len(resources))
    for resource in resources:
        schemas.validate(resource)
    return {r["kind"]: r for r in resources}


def without_labels(value):
    """Return a copy without the labels of Helm, wherever they are."""
    if isinstance(value, dict):
        return {k: without_labels(v) for k, v in value.items() if k not in OF_HELM}
    return [without_labels(v) for v in value] if isinstance(value, list) else value


def as_in_base(resource):
    """Return a copy without the parts that only the chart has."""
    made = without_labels(copy.deepcopy(resource))
    if made["kind"] == "StatefulSet":
        template = made["spec"]["template"]
        assert template["metadata"]["annotations"].pop("checksum/config")
        same("pull", template["spec"]["containers"][0].pop("imagePullPolicy"), "IfNotPresent")
        image, _, tag = template["spec"]["containers"][0]["image"].partition(":")
        same("tag", tag, load(cluster.BASE, "kustomization.yaml")["images"][0]["newTag"])
        template["spec"]["containers"][0]["image"] = image
    return made


def named(resource):
    """Return a resource of a file with the label that kustomize files add only where they select by it."""
    made = copy.deepcopy(resource)
    made["metadata"].setdefault("labels", {"app.kubernetes.io/name": "evenkeel"})
    return made


def chart_is_the_base(_):
    if not helm_python:
        return NO_HELM
    made = rendered()
    files = {f["kind"]: f for f in (load(cluster.BASE, name + ".yaml") for name in BASE_FILES)}
    same("kinds", set(made), {*files, "ConfigMap"})
    for kind, file in files.items():
        same(kind, as_in_base(made[kind]), named(file))
    for name in cluster.CONFIGURATION:
        same(name, yaml.safe_load(made["ConfigMap"]["data"][name]), load(cluster.BASE, name))
    cluster.is_restricted(made["StatefulSet"]["spec"]["template"]["spec"])
    return None


def chart_has_the_components(_):
    if not helm_python:
        return NO_HELM
    made = rendered(OPERATORS)
    assert "replicas" not in made["StatefulSet"]["spec"], "it would undo the scaling of KEDA"
    for name in COMPONENT_FILES:
        file = load("kubernetes/components", name + ".yaml")
        same(name, as_in_base(made[file["kind"]]), named(file))
    return None


def chart_has_names_of_its_release(_):
    if not helm_python:
        return NO_HELM
    made = rendered({**OPERATORS, "keda": {"enabled": True, "lagPerPod": 5000000}}, "hotels", "search")
    for kind, resource in made.items():
        same(kind, resource["metadata"]["name"], "hotels-evenkeel")
    spec = made["StatefulSet"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    same("label", labels["app.kubernetes.io/instance"], "hotels")
    same("selector", spec["selector"]["matchLabels"], labels)
    for kind in ("PodDisruptionBudget", "ServiceMonitor"):
        same(kind, made[kind]["spec"]["selector"]["matchLabels"], labels)
    same("scaled", made["ScaledObject"]["spec"]["scaleTargetRef"]["name"], "hotels-evenkeel")
    trigger = made["ScaledObject"]["spec"]["triggers"][0]["metadata"]
    assert 'namespace="search"' in trigger["query"]
    same("lag", trigger["threshold"], "5000000")
    same("configuration", spec["template"]["spec"]["volumes"][0]["configMap"]["name"], made["ConfigMap"]["metadata"]["name"])
    return None


def chart_has_a_job_for_each_release(_):
    """The rules take the instances of one job for a fleet."""
    if not helm_python:
        return NO_HELM
    for name, namespace in (("hotels", "search"), ("hotels", "staging"), ("flights", "search")):
        same("job", cluster.job_of(rendered(OPERATORS, name, namespace), namespace), f"{namespace}/{name}")
    return None


def chart_restarts_pods_for_a_configuration(_):
    if not helm_python:
        return NO_HELM

    def checksum(values):
        return rendered(values)["StatefulSet"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
    same("checksum", checksum({"replicas": 3}), checksum({}))
    assert checksum({"rules": {"defaults": {"mode": "shadow"}}}) != checksum({})
    return None


def chart_rejects_invalid_values(_):
    if not helm_python:
        return NO_HELM
    same("lint", helm_python.lint(CHART)["errors"], [])
    for values in INVALID:
        try:
            rendered(values)
        except helm_python.HelmError:
            continue
        raise AssertionError(f"accepted: {values}")
    return None


def boolean_words():
    """Return (section, key, word) of each word of a configuration key that Helm reads as a boolean without quotes."""
    with open(os.path.join(TOP, "docs/config.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| `(\w+)\.(\w+)` \| (`[^|]*`) \|", f.read(), re.M)
    return [(section, key, word) for section, key, words in rows for word in re.findall(r"`([^`]*)`", words)
            if word not in ("true", "false") and isinstance(yaml.safe_load(word), bool)]


def chart_requires_quotes_of_boolean_words(_):
    """YAML 1.1 reads `on` as true, which the program rejects at each start."""
    if not helm_python:
        return NO_HELM
    words = boolean_words()
    assert ("service", "core_dumps", "on") in words, words
    for section, key, word in words:
        unquoted, quoted = (yaml.safe_load(f"config: {{{section}: {{{key}: {value}}}}}") for value in (word, f'"{word}"'))
        try:
            rendered(unquoted)
        except helm_python.HelmError as e:
            assert key in str(e), e
        else:
            raise AssertionError(f"accepted: {unquoted}")
        made = yaml.safe_load(configuration(quoted)["evenkeel.yaml"])
        same(key, made[section][key], word)
    return None


def configuration(values):
    """Return {file name: content} of the ConfigMap."""
    return rendered(values)["ConfigMap"]["data"]


CASES = (chart_is_the_base, chart_has_the_components, chart_has_names_of_its_release, chart_has_a_job_for_each_release,
         chart_restarts_pods_for_a_configuration, chart_rejects_invalid_values, chart_requires_quotes_of_boolean_words)
