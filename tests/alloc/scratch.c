#include "tests/alloc/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s, (void)kind, (void)where;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

struct ek_scratch ek_scratch(const char *name)
{
    struct ek_scratch s;
    if (!*folder) {
        snprintf(folder, sizeof folder, "/tmp/evenkeel-alloc-XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(remove_folder);
    }
    snprintf(s.path, sizeof s.path, "%s/%s", folder, name);
    return s;
}
