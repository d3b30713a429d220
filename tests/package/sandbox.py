"""sandbox.py UNIT PROGRAM: attack the unit's sandbox under systemd, line by line.

systemd runs attack.py in a container over this machine's files (systemd-nspawn on an in-memory overlay): once without
a sandbox, to find the possible actions; once with all lines of the unit, which must deny everything; and for each
attacked line, once with that line alone. The program must run under all of them. Status 77: not possible on this
machine.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from attack import ATTEMPTS

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 600
# Companion lines that a line needs.
ALONG = {"ProtectProc": ["User"], "NoExecPaths": ["ExecPaths"], "SystemCallFilter": ["SystemCallErrorNumber"],
         "SystemCallArchitectures": ["SystemCallErrorNumber"]}
NOT_OF_IT = ("Type", "ExecStart", "ExecReload", "Restart", "Timeout", "LoadCredential", "SetCredential")
PYTHON = os.path.realpath("/usr/bin/python3")
# Denied by default in a container, so that the unit must deny it.
ALLOWED = "@clock @module @raw-io @keyring @debug @swap @reboot @mount @memlock @resources @setuid @aio bpf perf_event_open"
SERVICE = """[Unit]
DefaultDependencies=no
{after}
[Service]
Type=oneshot
{lines}
ExecStart={words}
StandardOutput=file:/out/{name}
StandardError=file:/out/{name}.error
"""
# Power off, regardless of the other results.
END = """[Unit]
DefaultDependencies=no
After={last}.service
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
ExecStart=/bin/true
"""


def key(line):
    return line.partition("=")[0]


def lines_of(unit):
    with open(unit, encoding="utf-8") as f:
        service = re.search(r"^\[Service\]\n(.*?)^\[Install\]", f.read(), re.S | re.M).group(1)
    return [line for line in service.splitlines() if re.match(r"\w+=", line) and not key(line).startswith(NOT_OF_IT)]


def alone(lines, name):
    return [line for line in lines if key(line) in (name, *ALONG.get(name, ()))]


def services(unit):
    """Return {name: (lines, command)} in order."""
    lines, attack = lines_of(unit), f"{PYTHON} -B /opt/attack.py"
    own = [f"ExecPaths={PYTHON}"]  # the attacking program is itself not allowed to execute
    found = {"prepare": ([], attack + " prepare"), "free": ([], attack), "whole": (lines + own, attack),
             "program": (lines, "/usr/bin/evenkeel --version")}
    for name in sorted({name for name, _, _ in ATTEMPTS}):
        one = alone(lines, name)
        found["only-" + name] = (one + (own if name == "NoExecPaths" else []), f"{attack} {name}")
    return found


def add(path, text, mode="a"):
    with open(path, mode, encoding="utf-8") as f:
        f.write(text)


def fill(root, unit, program):
    """Write the services in sequence, then the power-off."""
    units = os.path.join(root, "etc/systemd/system")
    shutil.copy(os.path.join(HERE, "attack.py"), os.path.join(root, "opt"))
    shutil.copy(program, os.path.join(root, "usr/bin/evenkeel"))
    add(os.path.join(root, "etc/passwd"), "evenkeel:x:971:971::/nonexistent:/usr/sbin/nologin\n")
    add(os.path.join(root, "etc/group"), "evenkeel:x:971:\n")
    wants = before = ""
    for name, (lines, words) in services(unit).items():
        after = f"After={before}.service" if before else ""
        add(f"{units}/{name}.service", SERVICE.format(after=after, lines="\n".join(lines), words=words, name=name), "w")
        wants += f"Wants={name}.service\n"
        before = name
    add(f"{units}/end.service", END.format(last=before), "w")
    add(f"{units}/attack.target", f"[Unit]\nDefaultDependencies=no\n{wants}Wants=end.service\n", "w")


def boot(folder, unit, program):
    """Boot in a private mount namespace. Return systemd's output."""
    for one in ("mem", "root", "out"):
        os.mkdir(os.path.join(folder, one))
    script = (f"cd {shlex.quote(folder)} && mount -t tmpfs none mem && mkdir mem/up mem/work && "
              f"mount -t overlay none -o lowerdir=/,upperdir=mem/up,workdir=mem/work root && "
              f"{shlex.join([sys.executable, '-B', HERE + '/sandbox.py', '--impute', 'root', unit, program])} && "
              f"exec systemd-nspawn -q -D root -b --register=no --keep-unit --console=pipe --capability=all "
              f"--system-call-filter='{ALLOWED}' --bind={shlex.quote(folder)}/out:/out systemd.unit=attack.target")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=SECONDS, env={**os.environ, "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "1"}, check=False)
    return done.stdout


def came_of(out, name):
    """Return {(line, what): outcome} of a service; empty if it did not run."""
    try:
        with open(os.path.join(out, name), encoding="utf-8") as f:
            return {(line, what): came for line, what, came in (row.rstrip("\n").split("\t") for row in f)}
    except OSError:
        return {}


def judge(lines, out):
    free, whole = came_of(out, "free"), came_of(out, "whole")
    tried = [one for one, came in free.items() if came == "done"]
    for (_, what), came in free.items():
        if came != "done":
            print(f"not to be tried here: {what} ({came})")
    only = {one: came for name in {line for line, _ in tried} for one, came in came_of(out, "only-" + name).items()}
    print("nothing is tried of: " + " ".join(sorted({key(line) for line in lines} - {line for line, _ in tried})))
    print(f"tried: {len(tried)} of {len(free)}, of {len({line for line, _ in tried})} lines")
    yield from (f"the unit lets one {one[1]}: {whole.get(one, 'it does not start')}" for one in tried if whole.get(one, "done") == "done")
    yield from (f"{one[0]} alone lets one {one[1]}" for one in tried if only.get(one, "done") == "done")
    if not tried:
        yield "nothing was tried"
    if not os.path.exists(os.path.join(out, "program")) or not os.path.getsize(os.path.join(out, "program")):
        yield "the program does not run"


def lacking():
    """Return the missing requirement, or nothing."""
    for program in ("systemd-nspawn", "unshare", "/lib/systemd/systemd", "/usr/bin/python3"):
        if not shutil.which(program):
            return f"no {program}"
    return "" if os.getuid() == 0 else "not root"


def errors(out):
    for name in sorted(os.listdir(out)):
        if name.endswith(".error") and os.path.getsize(os.path.join(out, name)):
            with open(os.path.join(out, name), encoding="utf-8") as f:
                yield f"{name}: {f.read()[-300:]}"


def main():
    if sys.argv[1] == "--impute":
        return fill(*sys.argv[2:])
    unit, program = map(os.path.realpath, sys.argv[1:])
    if lacking():
        print(lacking())
        return 77
    with tempfile.TemporaryDirectory() as folder:
        said, out = boot(folder, unit, program), os.path.join(folder, "out")
        if not came_of(out, "free"):
            print(said[-600:])
            print("systemd does not start in a container here")
            return 77
        faults = [*judge(lines_of(unit), out), *errors(out)]
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
