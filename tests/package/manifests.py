#!/usr/bin/env python3
"""manifests.py PROGRAM: what deploy/ has for containers fits together, and fits the program.

What schemas, hadolint and `evenkeel check` say of the files alone is asked here too; what neither can know is that
names, paths, ports and times in them are those of each other. Ends with 77 where a Python module is missing.
"""
import os
import re
import secrets
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("no Python module yaml")
    sys.exit(77)

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(TOP, "deploy")
SCHEMA_VERSION = "1.31"
OPERATORS = ("monitoring.coreos.com", "keda.sh", "kustomize.config.k8s.io")
passed, failed, skipped = [], [], []


def path(*words):
    return os.path.join(DEPLOY, *words)


def text(*words):
    with open(path(*words), encoding="utf-8") as f:
        return f.read()


def load(*words):
    return yaml.safe_load(text(*words))


def seconds(duration):
    return float(re.fullmatch(r"([0-9.]+)s", duration).group(1))


def same(what, a, b):
    assert a == b, f"{what}: {a!r} and {b!r}"


def assets(program, folder):
    """What the configurations name, small; and a token."""
    def run(*words):
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)
    run("gen", "hotel", "--queries", "200", "--seed", "1", "--manifest-out", "features.yaml", "-o", "train.txt")
    run("profile", "--manifest", "features.yaml", "--letor", "train.txt", "-o", "profile.ekp")
    run("train", "--manifest", "features.yaml", "--train", "train.txt", "--vali", "train.txt", "--epochs", "1",
        "--hidden", "4", "-o", "model.safetensors")


def checked(program, folder, source, places):
    """`evenkeel check` of a configuration as the container has it, with its folders moved into a scratch one."""
    inside = os.path.join(folder, os.path.basename(source))
    os.makedirs(inside, exist_ok=True)
    for name in ("evenkeel.yaml", "rules.yaml"):
        content = text(source, name)
        for place in places:
            content = content.replace(place + "/", folder + "/")
        with open(os.path.join(inside, name), "w", encoding="utf-8") as f:
            f.write(content)
    return subprocess.run([program, "check", "evenkeel.yaml", "rules.yaml"], cwd=inside, check=False,
                          capture_output=True, text=True, env={**os.environ, "POD_NAME": "evenkeel-0"})


def check(program, folder, source, places):
    result = checked(program, folder, source, places)
    assert result.returncode == 0, result.stdout + result.stderr


def token(folder, lines):
    with open(os.path.join(folder, "token"), "w", encoding="utf-8") as f:
        f.write(lines)
    os.chmod(os.path.join(folder, "token"), 0o640)


def configurations(program):
    with tempfile.TemporaryDirectory() as folder:
        assets(program, folder)
        shipped = load("kubernetes", "secret.yaml")["stringData"]["token"]
        token(folder, shipped)
        result = checked(program, folder, "kubernetes", ["/assets", "/secrets"])
        said = result.stdout + result.stderr
        assert result.returncode and "a token must have 16" in said, "everybody knows that token"
        token(folder, shipped.replace("REPLACE-ME", secrets.token_hex(32)))
        check(program, folder, "kubernetes", ["/assets", "/secrets"])
        check(program, folder, "compose", ["/data"])


def schemas(_):
    try:
        import kubernetes_validate
    except ImportError:
        return "no Python module kubernetes_validate"
    for name in sorted(os.listdir(path("kubernetes"))):
        if not name.endswith(".yaml") or name in ("evenkeel.yaml", "rules.yaml"):
            continue
        resource = load("kubernetes", name)
        if not resource["apiVersion"].startswith(OPERATORS):
            kubernetes_validate.validate(resource, SCHEMA_VERSION, strict=True)
    return None


def kubernetes_fits(_):
    here = {n for n in os.listdir(path("kubernetes")) if n.endswith(".yaml")}
    kustomization = load("kubernetes", "kustomization.yaml")
    maps = {each["name"]: each["files"] for each in kustomization["configMapGenerator"]}
    named = set(kustomization["resources"]) | {"kustomization.yaml"} | {f for files in maps.values() for f in files}
    same("files", sorted(named), sorted(here))
    config = load("kubernetes", "evenkeel.yaml")
    spec = load("kubernetes", "statefulset.yaml")["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    volumes = {v["name"]: v for v in pod["volumes"]}
    same("mounts", set(mounts), set(volumes))
    assert volumes["config"]["configMap"]["name"] in maps
    same("secret", volumes["token"]["secret"]["secretName"], load("kubernetes", "secret.yaml")["metadata"]["name"])
    same("configuration", container["args"][-1], mounts["config"] + "/evenkeel.yaml")
    for kind in ("manifest", "profile", "model"):
        same(kind, os.path.dirname(config["assets"][kind]), mounts["assets"])
    same("token", os.path.dirname(config["http"]["token_file"]), mounts["token"])
    same("port", config["http"]["listen"], f"0.0.0.0:{container['ports'][0]['containerPort']}")
    same("name of the pod", config["service"]["instance"], "${%s}" % container["env"][0]["name"])
    assert pod["terminationGracePeriodSeconds"] > 2 * seconds(config["limits"]["shutdown"])
    assert all(container[f"{kind}Probe"]["httpGet"]["port"] == container["ports"][0]["name"]
               for kind in ("startup", "liveness", "readiness"))
    labels = spec["template"]["metadata"]["labels"]
    for name in ("service", "poddisruptionbudget", "networkpolicy", "servicemonitor"):
        rest = load("kubernetes", name + ".yaml")
        chosen = rest["spec"].get("podSelector") or rest["spec"]["selector"]
        same(name, chosen.get("matchLabels", chosen), labels)
    scaled = load("kubernetes", "keda.yaml")["spec"]
    same("scaled", scaled["scaleTargetRef"]["name"], load("kubernetes", "statefulset.yaml")["metadata"]["name"])


def metric_is_there(program):
    query = load("kubernetes", "keda.yaml")["spec"]["triggers"][0]["metadata"]["query"]
    name = re.search(r"evenkeel_[a-z_]+", query).group(0)
    with open(program, "rb") as f:
        assert name.encode() in f.read(), name


def image_fits(_):
    dockerfile = text("docker", "Dockerfile")
    uid = re.search(r"^USER ([0-9]+):\1$", dockerfile, re.M).group(1)
    assert f"--uid {uid} " in dockerfile and f"--gid {uid} " in dockerfile, uid
    security = load("kubernetes", "statefulset.yaml")["spec"]["template"]["spec"]["securityContext"]
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        same(key, str(security[key]), uid)


def tags_are_of_this_version(program):
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    same("kustomization", load("kubernetes", "kustomization.yaml")["images"][0]["newTag"], version)
    for service in ("prepare", "evenkeel"):
        same(service, load("compose", "compose.yaml")["services"][service]["image"], "evenkeel:" + version)
    with open(os.path.join(TOP, "tests/watch/watch.mk"), encoding="utf-8") as f:
        types = re.search(r"^GRAFANA := (\S+)$", f.read(), re.M).group(1)
    same("grafana", load("compose", "compose.yaml")["services"]["grafana"]["image"], "grafana/grafana:" + types)


def compose_fits(_):
    compose = load("compose", "compose.yaml")
    services, missing = compose["services"], []
    for name, service in services.items():
        for other in service.get("depends_on", {}):
            assert other in services, f"{name}: {other}"
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if not source.startswith("."):
                assert source in compose["volumes"], f"{name}: {source}"
            elif not os.path.exists(path("compose", source)):
                missing.append(source)
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), f"{name}: {port}"
    config = load("compose", "evenkeel.yaml")
    created = set(re.findall(r"[\w.-]+", re.search(r"for topic in (.*); do", text("compose", "topics.sh")).group(1)))
    created |= set(re.findall(r"^create ([\w.-]+)", text("compose", "topics.sh"), re.M))
    used = {*config["input"]["topics"], config["output"]["topic"], config["output"]["dead_letter"], config["state"]["topic"]}
    same("topics", used, created)
    targets = load("compose", "prometheus.yml")["scrape_configs"][0]["static_configs"][0]["targets"]
    same("scraped", targets, ["evenkeel:" + config["http"]["listen"].split(":")[1]])
    return f"not there: {', '.join(missing)}" if missing else None


def lints(_):
    beside = os.path.join(os.path.dirname(sys.executable), "hadolint")
    hadolint = beside if os.path.exists(beside) else "hadolint"
    try:
        # DL3008: versions are those of the distribution's release.
        result = subprocess.run([hadolint, "--ignore", "DL3008", path("docker", "Dockerfile")], check=False,
                                capture_output=True, text=True)
    except OSError:
        return "no hadolint"
    assert result.returncode == 0, result.stdout + result.stderr
    return None


def main():
    program = os.path.realpath(sys.argv[1])
    for case in (configurations, schemas, kubernetes_fits, metric_is_there, image_fits, tags_are_of_this_version,
                 compose_fits, lints):
        try:
            why = case(program)
        except Exception as e:  # whatever is wrong with one is told, and the others are tried
            failed.append(case.__name__)
            print(f"FAILED {case.__name__}: {type(e).__name__}: {e}")
            continue
        (skipped if why else passed).append(case.__name__)
        if why:
            print(f"skipped {case.__name__}: {why}")
    print(f"{len(passed)} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)


main()
