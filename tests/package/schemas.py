"""Kubernetes resources and operator resources against their schemas. An unknown key is an error."""
import importlib
import json

SCHEMA_VERSION = "1.31"
OPERATORS = {"monitoring.coreos.com/v1": "cloudcoil.models.prometheus_operator.v1",
             "keda.sh/v1alpha1": "cloudcoil.models.keda.v1alpha1"}
OF_KUSTOMIZE = "kustomize.config.k8s.io"


def lost(given, kept, place=""):
    """Return the positions unknown to a model."""
    if isinstance(given, dict):
        for key, value in given.items():
            if not isinstance(kept, dict) or key not in kept:
                yield f"{place}.{key}"
            else:
                yield from lost(value, kept[key], f"{place}.{key}")
    elif isinstance(given, list):
        for i, value in enumerate(given):
            yield from lost(value, kept[i], f"{place}[{i}]")


def of_operator(resource):
    model = getattr(importlib.import_module(OPERATORS[resource["apiVersion"]]), resource["kind"])
    made = json.loads(model.model_validate(resource).model_dump_json(by_alias=True, exclude_unset=True))
    unknown = list(lost(resource, made))
    assert not unknown, f"{resource['kind']}: unknown {', '.join(unknown)}"


def of_kubernetes(resource):
    kubernetes_validate = importlib.import_module("kubernetes_validate")
    try:
        kubernetes_validate.validate(resource, SCHEMA_VERSION, strict=True)
    except kubernetes_validate.ValidationError as e:
        place = ".".join(str(word) for word in e.path)
        raise AssertionError(f"{resource['kind']}: {place}: {e.message}") from None


def validate(resource):
    """Return nothing, or the reason of a failure."""
    if resource["apiVersion"].startswith(OF_KUSTOMIZE):
        return None
    try:
        (of_operator if resource["apiVersion"] in OPERATORS else of_kubernetes)(resource)
    except ImportError as e:
        return f"no Python module {e.name}"
    return None
