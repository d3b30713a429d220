#!/usr/bin/env python3
"""What evenkeel is made with, as an SBOM (SPDX 2.3, JSON): sbom.py VERSION PROGRAM TOOLS LIBRARY [PACKAGE...] [WHEEL...] > FILE

PACKAGE: Debian packages of further libraries that are shipped with the programs.
WHEEL: files of the Python package (*.whl); which libraries they contain is read from their licenses.

The table says what is meant; which of the libraries are linked is read from the binaries (readelf), the version in use
is asked from dpkg, elsewhere from pkg-config. A binary that wants what the table lacks is an error. The same binaries
and versions give the same bytes: the time is SOURCE_DATE_EPOCH, or that of the newest entry of the packaging.
"""
import email.utils
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime, timezone

OURS = {"evenkeel": "APPLICATION", "evenkeel-tools": "APPLICATION", "libevenkeel0": "LIBRARY"}
# name, soname without its number, names for pkg-config, Debian package, license, home. Licenses are those of what is
# linked, from /usr/share/doc/*/copyright of Debian 12, read by hand: not those of examples, tests and packaging.
LIBRARIES = [
    ("librdkafka", "librdkafka", "rdkafka", "librdkafka-dev",
     "BSD-2-Clause AND BSD-3-Clause AND MIT AND Zlib", "https://github.com/confluentinc/librdkafka"),
    ("msgpack-c", "libmsgpackc", "msgpack-c msgpack", "libmsgpack-dev", "BSL-1.0", "https://github.com/msgpack/msgpack-c"),
    ("libyaml", "libyaml-0", "yaml-0.1", "libyaml-dev", "MIT", "https://pyyaml.org/wiki/LibYAML"),
    ("simdjson", "libsimdjson", "simdjson", "libsimdjson-dev", "Apache-2.0 AND BSD-3-Clause AND BSL-1.0 AND MIT", "https://simdjson.org"),
    ("zstd", "libzstd", "libzstd", "libzstd-dev", "BSD-3-Clause OR GPL-2.0-only", "https://facebook.github.io/zstd"),
    ("zlib", "libz", "zlib", "zlib1g-dev", "Zlib", "https://zlib.net"),
    ("xxhash", "libxxhash", "libxxhash", "libxxhash-dev", "BSD-2-Clause", "https://xxhash.com"),
    ("libmicrohttpd", "libmicrohttpd", "libmicrohttpd", "libmicrohttpd-dev", "LGPL-2.1-or-later",
     "https://www.gnu.org/software/libmicrohttpd"),
    ("curl", "libcurl", "libcurl", "libcurl4-openssl-dev", "curl", "https://curl.se"),
    ("openssl", "libcrypto", "libcrypto", "libssl-dev", "Apache-2.0", "https://www.openssl.org"),
    ("utf8proc", "libutf8proc", "libutf8proc", "libutf8proc-dev", "MIT AND Unicode-DFS-2015", "https://juliastrings.github.io/utf8proc"),
    ("libzip", "libzip", "libzip", "libzip-dev", "BSD-3-Clause", "https://libzip.org"),
    ("snowball", "libstemmer", "", "libstemmer-dev", "BSD-3-Clause", "https://snowballstem.org"),
    ("streamvbyte", "libstreamvbyte", "", "libstreamvbyte-dev", "Apache-2.0", "https://github.com/lemire/streamvbyte"),
    ("libstdc++", "libstdc++", "", "libstdc++6", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
    ("libgcc", "libgcc_s", "", "libgcc-s1", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
    ("glibc", "libc", "", "libc6-dev", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc"),
]
# What stands in the source tree: name, file with its version, license, home.
VENDORED = [("yyjson", "lib/vendor/yyjson/yyjson.h", "MIT", "https://github.com/ibireme/yyjson")]
# What the Python package is linked with besides, statically: name, license, home. The version is in python/requirements.txt.
BINDING = ("nanobind", "BSD-3-Clause", "https://nanobind.readthedocs.io")
ALSO = {"libm": "libc", "libpthread": "libc", "ld-linux-x86-64": "libc", "ld-linux-aarch64": "libc"}
# What builds and tests, and stays behind.
TOOLS = [
    ("gcc", "gcc", "GPL-3.0-or-later", "https://gcc.gnu.org", "BUILD_TOOL_OF"),
    ("g++", "g++", "GPL-3.0-or-later", "https://gcc.gnu.org", "BUILD_TOOL_OF"),
    ("make", "make", "GPL-3.0-or-later", "https://www.gnu.org/software/make", "BUILD_TOOL_OF"),
    ("pkg-config", "pkg-config", "GPL-2.0-or-later", "https://www.freedesktop.org/wiki/Software/pkg-config", "BUILD_TOOL_OF"),
    ("python3", "python3", "PSF-2.0", "https://www.python.org", "BUILD_TOOL_OF"),
    ("check", "check", "LGPL-2.1-or-later", "https://libcheck.github.io/check", "TEST_DEPENDENCY_OF"),
    ("jansson", "libjansson-dev", "MIT", "https://github.com/akheron/jansson", "TEST_DEPENDENCY_OF"),
]


def ask(*words):
    try:
        said = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def version_of(package, pkg_names):
    """(version, purl without a name, or None where nobody knows)"""
    status, _, found = ask("dpkg-query", "-W", "-f", "${db:Status-Status}|${source:Package}@${source:Version}", package).partition("|")
    if status == "installed":
        name, _, version = found.partition("@")
        quoted = version.replace("+", "%2B").replace(":", "%3A")
        return version, f"pkg:deb/debian/{name}@{quoted}?arch=source"
    for name in pkg_names.split():
        version = ask("pkg-config", "--modversion", name)
        if version:
            return version, f"pkg:generic/{name}@{version}"
    return None, None


def behind(command):
    """The package that has the program itself: `gcc` is one that names another."""
    path = shutil.which(command)
    owner = ask("dpkg-query", "-S", os.path.realpath(path)) if path else ""
    return owner.partition(":")[0]


def wanted_by(binary):
    said = ask("readelf", "-d", binary)
    if not said:
        sys.exit(f"sbom: cannot read '{binary}' with readelf")
    stems = [re.sub(r"\.so.*", "", name) for name in re.findall(r"\(NEEDED\).*\[([^\]]+)\]", said)]
    return {ALSO.get(re.sub(r"-[0-9]+\.[0-9.]+$", "", s), s) for s in stems}


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name.replace("+", "p"))


def package(name, version, license, home, purl=None, **more):
    told = {"SPDXID": spdx_id(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "homepage": home,
            "filesAnalyzed": False, "licenseConcluded": license, "licenseDeclared": license, "copyrightText": "NOASSERTION", **more}
    if purl:
        told["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return {k: v for k, v in told.items() if v is not None}


def ours(name, version, path, purpose):
    build = re.search(r"Build ID: ([0-9a-f]+)", ask("readelf", "-n", path))  # strip leaves it, unlike any checksum
    return package(name, version, "Apache-2.0", None, None, primaryPackagePurpose=purpose, supplier="Organization: evenkeel maintainers",
                   comment=f"GNU build id {build.group(1)}" if build else None)


def relation(a, kind, b):
    return {"spdxElementId": spdx_id(a), "relationshipType": kind, "relatedSpdxElement": spdx_id(b)}


def libraries(wants):
    """Packages and relations of LIBRARIES; wants: {ours: sonames without numbers}."""
    packages, relations, known = [], [], {row[1] for row in LIBRARIES}
    for who, names in wants.items():
        for name in sorted(names - known):
            sys.exit(f"sbom: '{who}' is linked with '{name}', which is not in the table")
    for name, soname, pkg_names, debian, license, home in LIBRARIES:
        version, purl = version_of(debian, pkg_names)
        users = [who for who, names in wants.items() if soname in names]
        if version is None and users:
            sys.exit(f"sbom: no version of '{name}': neither dpkg nor pkg-config knows it")
        if version is None:
            continue
        packages.append(package(name, version, license, home, purl, primaryPackagePurpose="LIBRARY"))
        relations += [relation(who, "DYNAMIC_LINK", name) for who in users]
        if not users:  # its headers, or nothing of it yet
            relations.append(relation(name, "BUILD_DEPENDENCY_OF", "evenkeel"))
    return packages, relations


def vendored():
    packages, relations = [], []
    for name, header, license, home in VENDORED:
        with open(header, encoding="utf-8") as f:
            version = re.search(r'_VERSION_STRING +"([^"]+)"', f.read()).group(1)
        packages.append(package(name, version, license, home, f"pkg:generic/{name}@{version}", primaryPackagePurpose="LIBRARY"))
        relations += [relation(who, "STATIC_LINK", name) for who in OURS]
    return packages, relations


def tools():
    packages, relations = [], []
    for name, debian, license, home, kind in TOOLS:
        version, purl = version_of(behind(name) or debian, name if name in ("check", "jansson") else "")
        if version is not None:
            packages.append(package(name, version, license, home, purl, primaryPackagePurpose="APPLICATION"))
            relations.append(relation(name, kind, "evenkeel"))
    return packages, relations


def shipped(debian_packages, known):
    """Source packages that are not in `known`, for their binary packages. Their licenses are in the copyright files."""
    packages, relations = {}, []
    for debian in debian_packages:
        version, purl = version_of(debian, "")
        if version is None:
            sys.exit(f"sbom: package '{debian}' is not installed")
        name = re.match(r"pkg:deb/debian/([^@]+)@", purl).group(1)
        if purl not in known and name not in packages:
            packages[name] = package(name, version, "NOASSERTION", None, purl, primaryPackagePurpose="LIBRARY")
            relations.append(relation(name, "RUNTIME_DEPENDENCY_OF", "evenkeel"))
    return list(packages.values()), relations


def binding():
    name, license, home = BINDING
    with open("python/requirements.txt", encoding="utf-8") as f:
        version = re.search(rf"^{name}==(\S+)$", f.read(), re.M).group(1)
    return package(name, version, license, home, f"pkg:pypi/{name}@{version}", primaryPackagePurpose="LIBRARY")


def wheels(version, paths):
    """Packages and relations of files of the Python package, with their checksums."""
    packages, relations = [binding()] if paths else [], []
    for path in paths:
        file = os.path.basename(path)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        with open(path, "rb") as f:
            checksum = {"algorithm": "SHA256", "checksumValue": hashlib.sha256(f.read()).hexdigest()}
        packages.append(package(file, version, "Apache-2.0", None, f"pkg:pypi/evenkeel@{version}", packageFileName=file,
                                checksums=[checksum], primaryPackagePurpose="LIBRARY"))
        licensed = {os.path.basename(name) for name in names if "/licenses/" in name}
        shared = [os.path.basename(name) for name in names if ".so" in name]
        for name, soname, _, debian, _, _ in LIBRARIES:
            if debian in licensed:
                relations.append(relation(file, "CONTAINS" if any(s.startswith(soname) for s in shared) else "STATIC_LINK", name))
        relations += [relation(file, "STATIC_LINK", name) for name in [BINDING[0]] + [row[0] for row in VENDORED]]
    return packages, relations


def purls_of(packages):
    return {reference["referenceLocator"] for each in packages for reference in each.get("externalRefs", ())}


def time_of_build():
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        with open("deploy/debian/changelog", encoding="utf-8") as f:
            date = re.search(r"^ -- .*>  (.*)$", f.read(), re.M).group(1)
        epoch = email.utils.parsedate_to_datetime(date).timestamp()
    return datetime.fromtimestamp(int(epoch), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    if len(sys.argv) < 2 + len(OURS):
        sys.exit("usage: sbom.py VERSION PROGRAM TOOLS LIBRARY [PACKAGE...] [WHEEL...] > FILE")
    version, binaries, more = sys.argv[1], sys.argv[2:2 + len(OURS)], sys.argv[2 + len(OURS):]
    files = [word for word in more if word.endswith(".whl")]
    linked, links = libraries({name: wanted_by(path) for name, path in zip(OURS, binaries)})
    kept, holds = vendored()
    used, uses = tools()
    others, serve = shipped([word for word in more if word not in files], purls_of(linked))
    python, contains = wheels(version, files)
    described = [*OURS, *map(os.path.basename, files)]
    packages = [ours(name, version, path, OURS[name]) for name, path in zip(OURS, binaries)] + linked + kept + others + python + used
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": spdx_id(name)}
                 for name in described] + links + holds + serve + contains + uses
    about = json.dumps([packages, relations], sort_keys=True).encode()
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"evenkeel-{version}",
                "documentNamespace": f"https://evenkeel.invalid/spdx/evenkeel-{version}-{hashlib.sha256(about).hexdigest()[:32]}",
                "creationInfo": {"created": time_of_build(), "creators": [f"Tool: evenkeel-sbom-{version}"]},
                "documentDescribes": [spdx_id(name) for name in described],
                "packages": packages, "relationships": relations}
    json.dump(document, sys.stdout, indent=1)
    print()


main()
