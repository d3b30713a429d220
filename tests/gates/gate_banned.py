"""Functions without callers, and allocation outside lib/base/alloc.c."""
import re

from tree import line_of

BANNED = ("strcpy strcat sprintf vsprintf atoi atol atoll atof strtok gets alloca "
          "tmpnam mktemp strncpy strncat "
          # non-reentrant functions, functions that start a shell, and non-local jumps
          "rand srand gmtime localtime ctime asctime tempnam inet_ntoa gethostbyname strdupa "
          "system popen vfork setjmp longjmp sigsetjmp siglongjmp").split()
MEMORY = "malloc calloc realloc free strdup strndup aligned_alloc posix_memalign asprintf vasprintf getline".split()
ALLOCATOR = "lib/base/alloc.c"

_BANNED = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
_MEMORY = re.compile(r"(?<![\w.>])(" + "|".join(MEMORY) + r")\s*\(")


def faults(tree):
    for name in tree.each("*.c", "*.cc", "*.h", folders=("lib", "daemon", "python", "tests")):
        code = tree.code(name)
        for match in _BANNED.finditer(code):
            yield f"{name}:{line_of(code, match.start())}: {match.group(1)}() is banned"
        if name == ALLOCATOR or name.startswith("tests/"):
            continue
        for match in _MEMORY.finditer(code):
            yield f"{name}:{line_of(code, match.start())}: {match.group(1)}() outside {ALLOCATOR}"


BODY = "void ek_seeded(char *a, const char *b);\nvoid ek_seeded(char *a, const char *b)\n{\n    %s;\n}\n"
SEEDS = [
    ("a banned function", "daemon/base/command.c", BODY % "strcpy(a, b)", "strcpy() is banned"),
    ("a time that threads share", "daemon/base/command.c", BODY % "a = (char *)gmtime((void *)b)", "gmtime() is banned"),
    ("a shell", "daemon/base/command.c", BODY % "a[0] = (char)system(b)", "system() is banned"),
    ("bare memory", "lib/base/buf.c", BODY % "a = malloc(7)", "malloc() outside"),
    ("a bare free", "lib/base/buf.c", BODY % "free(a)", "free() outside"),
]
