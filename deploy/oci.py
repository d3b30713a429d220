#!/usr/bin/env python3
"""OCI image layout of evenkeel as a tar archive, without a container engine: oci.py VERSION FILE ARCH=FOLDER...

Each subfolder of FOLDER is a layer, in the order of the names. Times are SOURCE_DATE_EPOCH, owners are root: the same
files give the same bytes.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
from datetime import datetime, timezone

TYPE = "application/vnd.oci.image."
# As in deploy/docker/Dockerfile; a test compares them.
RUN = {"User": "10001:10001", "ExposedPorts": {"9464/tcp": {}}, "Entrypoint": ["/usr/bin/evenkeel"],
       "Cmd": ["run", "-c", "/etc/evenkeel/evenkeel.yaml"], "WorkingDir": "/etc/evenkeel", "StopSignal": "SIGTERM",
       "Env": ["PATH=/usr/bin"]}
LABELS = {"title": "evenkeel", "description": "detect scale changes in ranking features and contain them",
          "licenses": "Apache-2.0"}
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
CREATED = datetime.fromtimestamp(EPOCH, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def mode_of(info):
    if info.isdir():
        return 0o1777 if info.mode & 0o1000 else 0o755
    return 0o755 if info.mode & 0o100 else 0o644


def packed(entries):
    """Return a tar archive of (name, path or bytes)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info = tar.gettarinfo(content, name)
                info.mode = mode_of(info)
            else:
                info.mode, info.size = 0o644, len(content)
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = EPOCH
            if not info.isreg():
                tar.addfile(info)
            elif isinstance(content, str):
                with open(content, "rb") as f:
                    tar.addfile(info, f)
            else:
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def files_of(folder):
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(folders + names):
            path = os.path.join(base, name)
            yield os.path.relpath(path, folder), path


class Layout:
    def __init__(self):
        self.blobs = {}

    def add(self, kind, content, **more):
        """Return the descriptor of a blob."""
        content = content if isinstance(content, bytes) else json.dumps(content, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return {"mediaType": TYPE + kind, "digest": "sha256:" + digest, "size": len(content), **more}

    def write(self, path, index):
        entries = [("blobs/sha256/" + digest, content) for digest, content in sorted(self.blobs.items())]
        entries += [("index.json", json.dumps(index, sort_keys=True).encode()), ("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')]
        with open(path, "wb") as f:
            f.write(packed(entries))


def manifest(layout, version, arch, folder):
    layers, diffs, history = [], [], []
    for name in sorted(os.listdir(folder)):
        plain = packed(files_of(os.path.join(folder, name)))
        layers.append(layout.add("layer.v1.tar+gzip", gzip.compress(plain, 6, mtime=0)))
        diffs.append("sha256:" + hashlib.sha256(plain).hexdigest())
        history.append({"created": CREATED, "created_by": name})
    labels = {"org.opencontainers.image." + key: value for key, value in {**LABELS, "version": version}.items()}
    config = {"created": CREATED, "architecture": arch, "os": "linux", "config": {**RUN, "Labels": labels},
              "rootfs": {"type": "layers", "diff_ids": diffs}, "history": history}
    return layout.add("manifest.v1+json", {"schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json",
                                           "config": layout.add("config.v1+json", config), "layers": layers},
                      platform={"architecture": arch, "os": "linux"})


def main():
    version, path, *roots = sys.argv[1:]
    layout = Layout()
    manifests = [manifest(layout, version, *root.split("=", 1)) for root in roots]
    head = {"schemaVersion": 2, "mediaType": TYPE + "index.v1+json"}
    image = layout.add("index.v1+json", {**head, "manifests": manifests},
                       annotations={"org.opencontainers.image.ref.name": version})
    layout.write(path, {**head, "manifests": [image]})


main()
