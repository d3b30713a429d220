"""attack.py: actions of an attacker within the process, and their results: `LINE<tab>WHAT<tab>OUTCOME`.

LINE is the unit's line that must deny the action; OUTCOME is `done`, or the reason of its denial. No action does harm
if it succeeds: setters get arguments that every kernel rejects, so that `done` includes errors other than permissions.
`attack.py prepare` creates files that others must not see.
"""
import ctypes
import errno
import mmap
import os
import resource
import socket
import stat
import subprocess
import sys

C = ctypes.CDLL(None, use_errno=True)
C.syscall.restype = ctypes.c_long
NAMES = ctypes.CDLL("libseccomp.so.2")
OF_OTHERS = "/tmp/of-others"
SHM_KEY = 0x656b
REFUSED = (errno.EPERM, errno.EACCES)
NOBODY = 65534
# A 32-bit program, headers and all: exit(42) through int 0x80.
ELF32 = (b"\x7fELF\1\1\1" + bytes(9) + bytes.fromhex(
    "0200 0300 01000000 54800408 34000000 00000000 00000000 3400 2000 0100 0000 0000 0000"
    "01000000 00000000 00800408 00800408 60000000 60000000 05000000 00100000"
    "b801000000 bb2a000000 cd80"))


def refused(number):
    raise OSError(number, os.strerror(number))


def call(name, *args):
    """Make the system call and return its result; an error other than a permission counts as done."""
    number = NAMES.seccomp_syscall_resolve_name(name.encode())
    came = C.syscall(*map(ctypes.c_long, (number, *args)))
    if came < 0 and ctypes.get_errno() in REFUSED:
        refused(ctypes.get_errno())
    return came


def in_a_child(work):
    """Run in a child process, as it would change this one; its error is raised here."""
    told, tells = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(tells, outcome(work).encode())
        os._exit(0)
    os.close(tells)
    status = os.waitpid(pid, 0)[1]
    with os.fdopen(told) as f:
        came = f.read()
    unless(os.WIFSIGNALED(status), f"killed by signal {status & 127}")
    unless(came != "done", came)


def child(name, *args):
    return lambda: in_a_child(lambda: call(name, *args))


def calls(name, *args):
    return lambda: call(name, *args)


def unless(is_denied, why):
    if is_denied:
        raise OSError(0, why)


def reads(path):
    def work():
        if os.path.isdir(path):
            unless(not os.listdir(path), "empty")
        else:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    return work


def writes(path):
    """Open for writing, and write nothing."""
    return lambda: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def makes(folder):
    def work():
        path = os.path.join(folder, "ek-attack")
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        os.unlink(path)
    return work


def own_file(content, mode=0o700, folder="/tmp"):
    path = os.path.join(folder, f"ek-attack-{os.getpid()}")
    with open(path, "wb") as f:
        f.write(content)
    os.chmod(path, mode)
    return path


def finds(path):
    return lambda: unless(not os.path.exists(path), "not there")


def capability():
    with open("/proc/self/status", encoding="ascii") as f:
        bounding = next(line.split()[1] for line in f if line.startswith("CapBnd"))
    unless(int(bounding, 16) == 0, "none left")


def set_uid_program():
    """Check whether su runs as root for an unprivileged user."""
    if os.getuid() == 0:
        os.setresuid(NOBODY, NOBODY, NOBODY)
    su = subprocess.Popen(["/bin/su", "-c", "exit"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True)
    with open(f"/proc/{su.pid}/status", encoding="ascii") as f:
        effective = next(line.split()[2] for line in f if line.startswith("Uid"))
    su.kill()
    su.wait()
    unless(effective != "0", f"it ran as {effective}")


def makes_set_uid():
    path = own_file(b"")
    try:
        os.chmod(path, 0o4700)
        unless(not os.stat(path).st_mode & stat.S_ISUID, "taken away")
    finally:
        os.unlink(path)


def gives_away():
    path = own_file(b"")
    try:
        os.chown(path, 12345, 12345)
    except OSError as e:  # EINVAL: no such user in this namespace
        raise OSError(errno.EPERM, e.strerror) from e
    finally:
        os.unlink(path)


def file_for_all():
    path = f"/tmp/ek-attack-{os.getpid()}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
    mode = os.stat(path).st_mode
    os.unlink(path)
    unless(not mode & 0o077, oct(mode & 0o777))


def device():
    path = f"/dev/ek-device-{os.getpid()}"
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 11))  # the kernel's log
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    finally:
        os.unlink(path)


def makes_group():
    path = "/sys/fs/cgroup/systemd/ek-attack" if os.path.isdir("/sys/fs/cgroup/systemd") else "/sys/fs/cgroup/ek-attack"
    os.mkdir(path)
    os.rmdir(path)


def another_process():
    unless(not os.path.exists("/proc/1/status"), "not seen")


def memory_of_others():
    unless(call("shmget", SHM_KEY, 0, 0) < 0, "not found")


def opens_socket(family, kind):
    return lambda: socket.socket(family, kind).close()


def real_time():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def maps(protection):
    mmap.mmap(-1, 4096, prot=protection).close()


def makes_executable():
    C.mmap.restype = ctypes.c_void_p
    at = C.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
    if C.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(4096), mmap.PROT_READ | mmap.PROT_EXEC):
        refused(ctypes.get_errno())


def maps_code_of(fd):
    os.write(fd, bytes(4096))
    mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()


def written_code():
    """In each folder that may be writable."""
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/dev", "/run", "/run/lock"):
        path = os.path.join(folder, f"ek-attack-{os.getpid()}")
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o700)
            os.unlink(path)
            return maps_code_of(fd)
        except OSError as e:
            why = e.errno
    return refused(why)


def code_of_memory():
    maps_code_of(os.memfd_create("attack"))


def executes(path):
    """Check whether it starts, regardless of its result."""
    pid = os.fork()
    if not pid:
        try:
            os.execv(path, [path])
        except OSError as e:
            os._exit(100 + e.errno)
    status = os.waitpid(pid, 0)[1]
    unless(os.WIFSIGNALED(status), f"killed by signal {status & 127}")
    if os.WEXITSTATUS(status) > 100:
        refused(os.WEXITSTATUS(status) - 100)


def runs(content):
    def work():
        path = own_file(content)
        try:
            executes(path)
        finally:
            os.unlink(path)
    return work


def core_dump():
    unless(resource.getrlimit(resource.RLIMIT_CORE) == (0, 0), "no bytes")


NO_ADDRESS = 0
# (line of the unit, action, function)
ATTEMPTS = [
    ("User", "read the passwords' file", reads("/etc/shadow")),
    ("CapabilityBoundingSet", "have a right of root's left", capability),
    ("CapabilityBoundingSet", "change the root folder", lambda: in_a_child(lambda: os.chroot("/"))),
    ("NoNewPrivileges", "run a program as root", lambda: in_a_child(set_uid_program)),
    ("RestrictSUIDSGID", "make a set-uid program", makes_set_uid),
    ("PrivateUsers", "give a file to another user", gives_away),
    ("ProtectSystem", "write to /usr", makes("/usr")),
    ("ProtectSystem", "write to /etc", makes("/etc")),
    ("ProtectSystem", "write to /var/lib", makes("/var/lib")),
    ("ProtectHome", "look into /root", reads("/root")),
    ("PrivateTmp", "see what others have in /tmp", finds(OF_OTHERS)),
    ("UMask", "make a file that others can read", file_for_all),
    ("PrivateDevices", "open the kernel's log by a device of its own", device),
    ("PrivateDevices", "read the kernel's log by its device", reads("/dev/kmsg")),
    ("ProtectKernelTunables", "change a setting of the kernel", writes("/proc/sys/kernel/printk")),
    ("ProtectKernelTunables", "change a setting under /sys", writes("/sys/kernel/mm/transparent_hugepage/enabled")),
    ("ProtectKernelModules", "load a module", calls("init_module", NO_ADDRESS, 0, NO_ADDRESS)),
    ("ProtectKernelModules", "look at the modules", reads("/usr/lib/modules")),
    ("ProtectKernelLogs", "ask for the kernel's log", calls("syslog", 10, NO_ADDRESS, 0)),
    ("ProtectControlGroups", "make a group of processes", makes_group),
    ("ProtectClock", "set the clock", calls("clock_settime", 0, NO_ADDRESS)),
    ("ProtectHostname", "set the machine's name", lambda: socket.sethostname(socket.gethostname())),
    ("ProtectProc", "see other processes", another_process),
    ("ProcSubset", "read what is not of processes in /proc", reads("/proc/kallsyms")),
    ("PrivateIPC", "find shared memory of others", memory_of_others),
    ("RestrictAddressFamilies", "open a raw packet socket", opens_socket(socket.AF_PACKET, socket.SOCK_RAW)),
    ("RestrictAddressFamilies", "open a netlink socket", opens_socket(socket.AF_NETLINK, socket.SOCK_RAW)),
    ("RestrictNamespaces", "make a user namespace", child("unshare", 0x10000000)),
    ("RestrictNamespaces", "make a mount namespace", child("unshare", 0x00020000)),
    ("RestrictNamespaces", "go into another namespace", calls("setns", -1, 0)),
    ("RestrictRealtime", "run in real time", lambda: in_a_child(real_time)),
    ("LockPersonality", "be of another personality", child("personality", 0x0040000)),
    ("MemoryDenyWriteExecute", "map memory to write and run", lambda: maps(mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)),
    ("MemoryDenyWriteExecute", "make memory it wrote run", makes_executable),
    ("NoExecPaths", "map a file it wrote to run", written_code),
    ("NoExecPaths", "run a script it wrote", runs(b"#!/bin/sh\nexit 0\n")),
    ("NoExecPaths", "run a program of the system", lambda: executes("/usr/bin/true")),
    ("SystemCallFilter", "map a file without a name to run", code_of_memory),
    ("SystemCallArchitectures", "run 32-bit code", runs(ELF32)),
    ("LimitCORE", "leave a core dump", core_dump),
]
# By name, with arguments that have no effect if allowed.
DENIED = {
    "ptrace": (-1, 0), "process_vm_readv": (0, 0, 0, 0, 0, -1), "process_vm_writev": (0, 0, 0, 0, 0, -1), "kcmp": (0, 0, -1),
    "bpf": (-1, 0, 0), "perf_event_open": (0, -1, -1, -1, -1), "userfaultfd": (-1,), "io_uring_setup": (0, 0), "io_setup": (0, 0),
    "add_key": (0, 0, 0, 0, 0), "keyctl": (-1,), "request_key": (0, 0, 0, 0),
    "mount": (0, 0, 0, 0, 0), "umount2": (0, 0), "move_mount": (-1, 0, -1, 0, 0), "open_tree": (-1, 0, -1), "fsopen": (0, -1),
    "pivot_root": (0, 0), "chroot": (0,), "swapon": (0, 0), "swapoff": (0,), "reboot": (0, 0, 0, 0), "kexec_load": (0, -1, 0, 0),
    "init_module": (0, 0, 0), "finit_module": (-1, 0, 0), "delete_module": (0, 0), "open_by_handle_at": (-1, 0, 0),
    "setuid": (-1,), "setresuid": (-2, -2, -2), "setgroups": (-1, 0), "chown": (0, 0, 0), "fchownat": (-1, 0, 0, 0, -1),
    "mlock": (1, -1), "mlockall": (0,), "shmget": (0, 0, 0), "semget": (0, -1, 0), "msgget": (-1, 0), "mbind": (0, 0, -1, 0, 0, 0),
    "sched_setaffinity": (-1, 0, 0), "sched_setscheduler": (-1, 0, 0), "setrlimit": (-1, 0), "acct": (-4096,), "quotactl": (-1, 0, 0, 0),
    "iopl": (9,), "ioperm": (-1, 1, 1), "modify_ldt": (-1, 0, 0), "fanotify_init": (-1, 0), "settimeofday": (-4096, 0), "adjtimex": (0,),
    "sethostname": (0, -1), "setdomainname": (0, -1), "lookup_dcookie": (0, 0, 0), "nfsservctl": (0, 0, 0),
    "memfd_create": (0, -1), "memfd_secret": (-1,),
}
ATTEMPTS += [("SystemCallFilter", f"call {name}", child(name, *args)) for name, args in DENIED.items()]


def outcome(work):
    try:
        work()
    except OSError as e:
        return e.strerror
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return "done"


def prepare():
    own = own_file(b"", 0o644)
    os.rename(own, OF_OTHERS)
    call("shmget", SHM_KEY, 4096, 0o1666)
    os.makedirs("/usr/lib/modules/ours", exist_ok=True)  # a machine without modules has none


def main():
    if sys.argv[1:] == ["prepare"]:
        prepare()
        return
    for line, what, work in ATTEMPTS:
        if line in sys.argv[1:] or not sys.argv[1:]:
            print(f"{line}\t{what}\t{outcome(work)}", flush=True)


if __name__ == "__main__":
    main()
