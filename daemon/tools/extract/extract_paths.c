#include "daemon/tools/extract/extract_paths.h"

#include "daemon/base/cli_parse.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct named {
    const char *option, *path;
};

enum { OUTPUTS = 3, OTHERS = 6 };

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool folder_of(const char *path, struct stat *s)
{
    char folder[PATH_MAX] = ".";
    size_t length = (size_t)(base_of(path) - path);
    if (length >= sizeof folder)
        return false; /* none has such a name */
    if (length) {
        memcpy(folder, path, length);
        folder[length] = 0;
    }
    return !stat(folder, s);
}

/* Files that are there by what they are (links, other ways to the same), those that are not yet by
 * folder and name. Devices and pipes may be named as often as one likes. */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool has_x = !stat(a, &x), has_y = !stat(b, &y);
    if (has_x && has_y)
        return S_ISREG(x.st_mode) && same_inode(&x, &y);
    return has_x == has_y && !strcmp(base_of(a), base_of(b)) && folder_of(a, &x) &&
           folder_of(b, &y) && same_inode(&x, &y);
}

static bool is_stdin(const char *path)
{
    return !strcmp(path, "-") || !strcmp(path, "/dev/stdin");
}

static int clash(const struct named *a, const struct named *b, struct ek_error *e)
{
    return ek_fail(e, EK_EUSAGE, "--%s and --%s are the same file, '%s'", a->option, b->option,
                   a->path);
}

static int check_output(const struct named *out, const struct named *in, size_t n,
                        struct ek_error *e)
{
    for (size_t i = 0; i < n; i++)
        if (in[i].path && out->path && !ek_is_stdout(out->path) && !is_stdin(in[i].path) &&
            same_file(out->path, in[i].path))
            return clash(out, &in[i], e);
    return EK_OK;
}

/* Named twice, it would have its bytes in one place and its end in the other. */
static int check_stdin(const struct named *in, size_t n, struct ek_error *e)
{
    const struct named *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!in[i].path || !is_stdin(in[i].path))
            continue;
        if (first)
            return ek_fail(e, EK_EUSAGE, "--%s and --%s cannot both be standard input",
                           first->option, in[i].option);
        first = &in[i];
    }
    return EK_OK;
}

int ek_extract_paths_check(const struct ek_extract_args *a, struct ek_error *e)
{
    bool builds = a->collection.count > 0;
    struct named out[OUTPUTS] = {{"output", a->output},
                                 {"manifest-out", a->manifest_out},
                                 {"index", builds ? a->index : NULL}};
    struct named in[OTHERS + EK_FILES_MAX] = {{"index", builds ? NULL : a->index},
                                              {"queries", a->queries},
                                              {"candidates", a->candidates},
                                              {"qrels", a->qrels},
                                              {"features", a->features}};
    size_t n = OTHERS;
    int rc = EK_OK;
    for (int i = 0; i < a->collection.count; i++)
        in[n++] = (struct named){"collection", a->collection.path[i]};
    for (size_t i = 0; i < OUTPUTS && !rc; i++) {
        rc = check_output(&out[i], in, n, e);
        if (!rc)
            rc = check_output(&out[i], out + i + 1, OUTPUTS - i - 1, e);
    }
    return rc ? rc : check_stdin(in, n, e);
}
