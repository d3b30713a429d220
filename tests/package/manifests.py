#!/usr/bin/env python3
"""manifests.py PROGRAM: the container files of deploy/ agree with each other and with the program.

Runs the schemas, hadolint and `evenkeel check`, and compares names, paths, ports and times across files. Exits with 77
if a Python module is missing.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
try:
    import chart
    import cluster
    from deploy_files import TOP, load, path, same, text
except ImportError as e:
    print(f"no Python module {e.name}")
    sys.exit(77)

passed, failed, skipped = [], [], []


def assets(program, folder):
    """Create small versions of the files that the configurations name, and a token."""
    def run(*words):
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)
    run("generate", "hotel", "--lists", "200", "--seed", "1", "--manifest-out", "features.yaml", "-o", "train.txt")
    run("profile", "--manifest", "features.yaml", "--letor", "train.txt", "-o", "profile.ekp")
    run("train", "--manifest", "features.yaml", "--train", "train.txt", "--vali", "train.txt", "--epochs", "1",
        "--hidden", "4", "-o", "model.safetensors")


def check(program, folder, source, places, change=lambda content: content):
    """Run `evenkeel check` on a configuration as in the container, with its folders moved into a scratch one."""
    inside = os.path.join(folder, os.path.basename(source))
    os.makedirs(inside, exist_ok=True)
    for name in cluster.CONFIGURATION:
        content = text(source, name)
        if name == "evenkeel.yaml":
            content = change(content)
        for place in places:
            content = content.replace(place + "/", folder + "/")
        with open(os.path.join(inside, name), "w", encoding="utf-8") as f:
            f.write(content)
    result = subprocess.run([program, "check", *cluster.CONFIGURATION], cwd=inside, check=False, capture_output=True,
                            text=True, env={**os.environ, "POD_NAME": "evenkeel-0"})
    assert result.returncode == 0, result.stdout + result.stderr


def secrets_of(folder):
    """As mounted in a pod."""
    for name, content in (("token", "ana 0123456789-a-token-of-ana\n"), ("slack", "https://hooks.example/services/T0\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(content)
        os.chmod(os.path.join(folder, name), 0o640)


def with_alerts(content):
    """Return the example sinks, uncommented."""
    shown = re.sub(r"^# (alerts:|  - \{)", r"\1", content, flags=re.M)
    assert shown.count("  - {") >= 2 and shown != content
    return shown


def configurations(program):
    with tempfile.TemporaryDirectory() as folder:
        assets(program, folder)
        secrets_of(folder)
        for source in (cluster.BASE, cluster.EXAMPLE):
            check(program, folder, source, ["/assets", "/secrets"])
        check(program, folder, cluster.BASE, ["/assets", "/secrets"], with_alerts)
        check(program, folder, "compose", ["/data"])


def chart_configuration(program):
    if not chart.helm_python:
        return chart.NO_HELM
    more = {"config": {"fleet": None, "service": {"core_dumps": "on"}, "input": {"librdkafka": {"fetch.max.bytes": 20000000}},
                       "alerts": [{"webhook": {"url": "${file:/secrets/slack}", "format": "slack"}}]}}
    with tempfile.TemporaryDirectory() as folder:
        assets(program, folder)
        secrets_of(folder)
        for name, values in (("default", {}), ("changed", more)):
            made = os.path.join(folder, "chart-" + name)
            os.mkdir(made)
            for file, content in chart.configuration(values).items():
                with open(os.path.join(made, file), "w", encoding="utf-8") as f:
                    f.write(content)
            check(program, folder, made, ["/assets", "/secrets"])
    return None


def image_fits(_):
    dockerfile = text("docker", "Dockerfile")
    uid = re.search(r"^USER ([0-9]+):\1$", dockerfile, re.M).group(1)
    assert f"--uid {uid} " in dockerfile and f"--gid {uid} " in dockerfile, uid
    security = load(cluster.BASE, "statefulset.yaml")["spec"]["template"]["spec"]["securityContext"]
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        same(key, str(security[key]), uid)


def tags_are_of_this_version(program):
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    for folder in (cluster.BASE, cluster.EXAMPLE):
        same(folder, load(folder, "kustomization.yaml")["images"][0]["newTag"], version)
    for key in ("version", "appVersion"):
        same("chart", load("helm", "evenkeel", "Chart.yaml")[key], version)
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
    used = {*config["input"]["topics"], config["output"]["topic"], config["output"]["dead_letter_topic"], config["state"]["topic"]}
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
    for case in (configurations, chart_configuration, *chart.CASES, *cluster.CASES, image_fits, tags_are_of_this_version, compose_fits, lints):
        try:
            why = case(program)
        except Exception as e:  # an error in one is reported, and the others still run
            failed.append(case.__name__)
            print(f"FAILED {case.__name__}: {type(e).__name__}: {e}")
            continue
        (skipped if why else passed).append(case.__name__)
        if why:
            print(f"skipped {case.__name__}: {why}")
    print(f"{len(passed)} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)


main()
