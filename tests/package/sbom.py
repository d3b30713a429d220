"""The SBOM against the rules of SPDX 2.3, against deps.sh, and against the binaries: sbom.py FILE PROGRAM TOOLS
LIBRARY"""
import json
import os
import re
import subprocess
import sys

LICENSES = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-or-later",
            "LGPL-2.1-or-later", "MIT", "PSF-2.0", "Unicode-DFS-2015", "Zlib", "curl", "GCC-exception-3.1"}
OURS = ("evenkeel", "evenkeel-tools", "libevenkeel0")
KINDS = {"DESCRIBES", "DYNAMIC_LINK", "STATIC_LINK", "BUILD_DEPENDENCY_OF", "BUILD_TOOL_OF", "TEST_DEPENDENCY_OF"}


def of_document(d):
    for key, value in (("spdxVersion", "SPDX-2.3"), ("dataLicense", "CC0-1.0"), ("SPDXID", "SPDXRef-DOCUMENT")):
        if d.get(key) != value:
            yield f"{key} is {d.get(key)!r} instead of {value!r}"
    if not re.fullmatch(r"https://[^\s#]+", d.get("documentNamespace", "")):
        yield "documentNamespace is no address"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", d["creationInfo"]["created"]):
        yield "creationInfo.created is no time in UTC"
    if not all(re.match(r"(Tool|Person|Organization): \S", c) for c in d["creationInfo"]["creators"]):
        yield "creationInfo.creators says nobody"


def of_packages(packages):
    seen = set()
    for p in packages:
        name = p.get("name")
        if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", p["SPDXID"]) or p["SPDXID"] in seen:
            yield f"{name}: its id {p['SPDXID']} is malformed or there twice"
        seen.add(p["SPDXID"])
        for key in ("name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
            if not p.get(key):
                yield f"{name}: no {key}"
        words = set(re.findall(r"[\w.-]+", p["licenseDeclared"])) - {"AND", "OR", "WITH"}
        if words - LICENSES:
            yield f"{name}: unknown license {' '.join(words - LICENSES)}"
        if name not in OURS:
            purls = [r["referenceLocator"] for r in p.get("externalRefs", ()) if r["referenceType"] == "purl"]
            if len(purls) != 1 or not re.fullmatch(r"pkg:(deb/debian|generic)/[a-z0-9.+-]+@[^@\s+]+", purls[0]):
                yield f"{name}: no package URL: {purls}"


def of_relations(relations, ids):
    for r in relations:
        if r["relationshipType"] not in KINDS:
            yield f"no such relation: {r}"
        for end in (r["spdxElementId"], r["relatedSpdxElement"]):
            if end not in ids:
                yield f"a relation to what is not there: {end}"
    lonely = ids - {r["spdxElementId"] for r in relations} - {r["relatedSpdxElement"] for r in relations}
    yield from (f"nothing relates to {one}" for one in sorted(lonely))


def of_sources(document):
    """The libraries of `make deps` are in the SBOM, and those in the SBOM are in the document of dependencies."""
    with open("deploy/deps.sh", encoding="utf-8") as f:
        deps = f.read()
    with open("deploy/sbom.py", encoding="utf-8") as f:
        table = f.read()
    for part in ("BUILD_LIBRARIES", "BUILD_HEADERS"):
        for line in re.search(part + r"='\n(.*?)'", deps, re.S).group(1).splitlines():
            if f'"{line.split()[-1]}"' not in table:
                yield f"deploy/sbom.py lacks {line.split()[-1]} of deploy/deps.sh"
    with open("docs/dev/dependencies.md", encoding="utf-8") as f:
        told = f.read().lower()
    for p in document["packages"]:
        if p.get("primaryPackagePurpose") == "LIBRARY" and p["name"] not in (*OURS, "libgcc", "glibc"):
            if p["name"] not in told.replace("libzstd", "zstd").replace("libxxhash", "xxhash"):
                yield f"docs/dev/dependencies.md does not name {p['name']}"


def of_binary(document, name, path):
    """Same number of libraries as in the binary, the C library's parts counted once."""
    said = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    wanted = {re.sub(r"\.so.*", "", n) for n in re.findall(r"\(NEEDED\).*\[([^\]]+)\]", said)}
    wanted = {"libc" if w in ("libm", "libpthread") or w.startswith("ld-linux") else w for w in wanted}
    linked = [r for r in document["relationships"] if r["relationshipType"] == "DYNAMIC_LINK" and r["spdxElementId"] == "SPDXRef-" + name]
    if len(linked) != len(wanted):
        yield f"{name} asks for {len(wanted)} libraries, the SBOM names {len(linked)}"


def main():
    path, *binaries = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    ids = {p["SPDXID"] for p in document["packages"]} | {document["SPDXID"]}
    faults = [*of_document(document), *of_packages(document["packages"]), *of_relations(document["relationships"], ids),
              *of_sources(document), *(fault for name, binary in zip(OURS, binaries) for fault in of_binary(document, name, binary))]
    env = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LANG", "TZ")} | {"LC_ALL": "C", "TZ": "Asia/Tokyo"}
    again = subprocess.run([sys.executable, "deploy/sbom.py", document["packages"][0]["versionInfo"], *binaries],
                           capture_output=True, text=True, check=False, env=env)
    with open(path, encoding="utf-8") as f:
        if again.stdout != f.read():
            faults.append(f"made again it is another: {again.stderr}")
    print("\n".join(faults) or f"{len(document['packages'])} packages, {len(document['relationships'])} relations")
    return bool(faults)


sys.exit(main())
