#!/usr/bin/env python3
"""oci_read.py FILE FOLDER: check an OCI image layout against the image specification and unpack the image of this
machine's architecture into FOLDER.

Checks digests, sizes and media types of all blobs, that layers are unique and unpacked layers have the listed digests,
and that the configuration is that of deploy/docker/Dockerfile.
"""
import gzip
import hashlib
import io
import json
import os
import platform
import re
import sys
import tarfile

sys.dont_write_bytecode = True
from deploy_files import same, text  # noqa: E402

INDEX, MANIFEST = "application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json"
CONFIG, LAYER = "application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar+gzip"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class Image:
    def __init__(self, path):
        with tarfile.open(path) as tar:
            self.files = {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}
        same("layout", json.loads(self.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        self.used = set()

    def blob(self, descriptor, kind):
        same("type", descriptor["mediaType"], kind)
        algorithm, digest = descriptor["digest"].split(":")
        content = self.files[f"blobs/{algorithm}/{digest}"]
        same("size", len(content), descriptor["size"])
        same("digest", hashlib.new(algorithm, content).hexdigest(), digest)
        self.used.add(f"blobs/{algorithm}/{digest}")
        return content

    def document(self, descriptor, kind):
        document = json.loads(self.blob(descriptor, kind))
        if kind != CONFIG:
            same("version", document["schemaVersion"], 2)
            same("type", document["mediaType"], kind)
        return document


def of_dockerfile(config, version):
    lines = dict(re.findall(r"^(USER|WORKDIR|EXPOSE|STOPSIGNAL|ENTRYPOINT|CMD) (.+)$", text("docker", "Dockerfile"), re.M))
    same("user", config["User"], lines["USER"])
    same("folder", config["WorkingDir"], lines["WORKDIR"])
    same("port", list(config["ExposedPorts"]), [lines["EXPOSE"] + "/tcp"])
    same("signal", config["StopSignal"], lines["STOPSIGNAL"])
    same("entry point", config["Entrypoint"], json.loads(lines["ENTRYPOINT"]))
    same("arguments", config["Cmd"], json.loads(lines["CMD"]))
    labels = dict(re.findall(r'(org\.opencontainers\.image\.\w+)="([^"]*)"', text("docker", "Dockerfile")))
    same("labels", config["Labels"], {**labels, "org.opencontainers.image.version": version})


def unpack(layer, folder):
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        members = tar.getmembers()
        same("names", len({m.name for m in members}), len(members))
        assert all((m.uid, m.gid) == (0, 0) and not m.mode & 0o6000 for m in members)
        assert not any(m.name.startswith("/") or ".." in m.name.split("/") for m in members)
        tar.extractall(folder)


def read(image, descriptor, version, folder):
    manifest = image.document(descriptor, MANIFEST)
    config = image.document(manifest["config"], CONFIG)
    same("platform", descriptor["platform"], {"architecture": config["architecture"], "os": config["os"]})
    of_dockerfile(config["config"], version)
    diffs = config["rootfs"]["diff_ids"]
    same("history", len(config["history"]), len(diffs))
    same("layers", len(manifest["layers"]), len(set(diffs)))
    assert len(diffs) > 1, "one layer"
    for layer, diff in zip(manifest["layers"], diffs):
        plain = gzip.decompress(image.blob(layer, LAYER))
        same("difference", "sha256:" + hashlib.sha256(plain).hexdigest(), diff)
        if config["architecture"] == ARCHITECTURES[platform.machine()]:
            unpack(plain, folder)


def main():
    image, folder = Image(sys.argv[1]), sys.argv[2]
    index = json.loads(image.files["index.json"])
    version = index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]
    for descriptor in image.document(index["manifests"][0], INDEX)["manifests"]:
        read(image, descriptor, version, folder)
    same("blobs", image.used, {name for name in image.files if name.startswith("blobs/")})
    assert os.path.exists(os.path.join(folder, "usr/bin/evenkeel"))


main()
