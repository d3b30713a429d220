"""The SBOM of a release describes the Python package: wheel_sbom.py PROGRAM TOOLS LIBRARY"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile

from deploy_files import path, same

FILE = "evenkeel-1.0-cp311-cp311-manylinux_2_34_x86_64.whl"


def write_wheel(folder):
    file = os.path.join(folder, FILE)
    with zipfile.ZipFile(file, "w") as archive:
        for license in ("LICENSE", "libyaml-dev", "libsimdjson-dev"):
            archive.writestr(f"evenkeel-1.0.dist-info/licenses/{license}", "license")
        archive.writestr("evenkeel/_native.cpython-311-x86_64-linux-gnu.so", "")
        archive.writestr("evenkeel.libs/libsimdjson-0a1b2c3d.so.14.0.0", "")
    return file


def main(binaries):
    with tempfile.TemporaryDirectory() as folder:
        file = write_wheel(folder)
        done = subprocess.run([sys.executable, path("sbom.py"), "1.0", *binaries, file], capture_output=True, text=True, check=True)
        with open(file, "rb") as f:
            checksum = hashlib.sha256(f.read()).hexdigest()
    document = json.loads(done.stdout)
    wheel, = [p for p in document["packages"] if p["name"] == FILE]
    same("checksums", wheel["checksums"], [{"algorithm": "SHA256", "checksumValue": checksum}])
    same("file", wheel["packageFileName"], FILE)
    links = sorted((r["relationshipType"], r["relatedSpdxElement"].removeprefix("SPDXRef-")) for r in document["relationships"]
                   if r["spdxElementId"] == wheel["SPDXID"])
    same("contents", links, [("CONTAINS", "simdjson"), ("STATIC_LINK", "libyaml"), ("STATIC_LINK", "nanobind"), ("STATIC_LINK", "yyjson")])
    same("described", wheel["SPDXID"] in document["documentDescribes"], True)


main(sys.argv[1:])
