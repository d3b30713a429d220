#include "daemon/tools/extract/npz.h"

#include "base/alloc.h"
#include "base/tmpfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

enum { HEADER_BYTES = 128, MAGIC_BYTES = 10, NAME_BYTES = 64, FAST = 1 };
enum { DOS_TIME = 0, DOS_DATE = 0x21 }; /* 1980-01-01, so that equal rows give equal bytes */

struct array {
    const char *name;
    enum ek_npz_type type;
    size_t columns, rows, widest;
    FILE *file; /* numbers after room for the header; strings as length and bytes */
};

struct ek_npz {
    char *path;
    struct array array[EK_NPZ_ARRAYS_MAX];
    int count;
};

static int fail_io(struct ek_error *e, const char *path)
{
    return ek_fail_at(e, EK_EIO, path, 0, 0, "cannot write: %s", strerror(errno));
}

/* Open a file in the output's folder without a name; `path` is restored. */
static FILE *spool(char *path)
{
    int fd = ek_tmpfile_spool(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (fd >= 0 && !f)
        close(fd);
    return f;
}

static bool write_bytes(FILE *f, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, f) == length;
}

static bool write_padding(FILE *f)
{
    static const char room[HEADER_BYTES];
    return write_bytes(f, room, sizeof room);
}

/* libzip renames over its path, so resolve a symbolic link first. */
static char *target_of(const char *path)
{
    char *real = realpath(path, NULL);
    char *target = ek_strdup(real ? real : path);
    ek_free(real);
    return target;
}

/* Check the target before the work. */
static int check_target(const char *path, struct ek_error *e)
{
    struct stat s;
    if (stat(path, &s))
        return EK_OK;
    if (!S_ISREG(s.st_mode))
        return ek_fail_at(e, EK_EIO, path, 0, 0, "cannot write: %s",
                          S_ISDIR(s.st_mode) ? strerror(EISDIR) : "NPZ needs a regular file");
    return EK_OK;
}

int ek_npz_open(struct ek_npz **out, const char *path, struct ek_error *e)
{
    int rc = check_target(path, e);
    if (rc)
        return rc;
    struct ek_npz *z = ek_calloc(1, sizeof *z);
    if (z)
        z->path = target_of(path);
    if (!z || !z->path) {
        ek_free(z);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    *out = z;
    return EK_OK;
}

int ek_npz_array(struct ek_npz *z, const char *name, enum ek_npz_type type, size_t columns,
                 int *array, struct ek_error *e)
{
    struct array *a = &z->array[z->count];
    if (z->count == EK_NPZ_ARRAYS_MAX)
        return ek_fail(e, EK_ELIMIT, "a file has at most %d arrays", EK_NPZ_ARRAYS_MAX);
    *a = (struct array){.name = name, .type = type, .columns = columns, .file = spool(z->path)};
    if (!a->file)
        return fail_io(e, z->path);
    *array = z->count++;
    return type == EK_NPZ_TEXT || write_padding(a->file) ? EK_OK : fail_io(e, z->path);
}

int ek_npz_numbers(struct ek_npz *z, int array, const void *row, struct ek_error *e)
{
    struct array *a = &z->array[array];
    if (!write_bytes(a->file, row, 4 * (a->columns ? a->columns : 1)))
        return fail_io(e, z->path);
    a->rows++;
    return EK_OK;
}

int ek_npz_text(struct ek_npz *z, int array, const char *text, size_t length, struct ek_error *e)
{
    struct array *a = &z->array[array];
    uint32_t n = (uint32_t)length;
    if (length > EK_NPZ_TEXT_MAX)
        return ek_fail(e, EK_ELIMIT, "a string of %zu bytes, at most %d", length, EK_NPZ_TEXT_MAX);
    if (!write_bytes(a->file, &n, sizeof n) || !write_bytes(a->file, text, length))
        return fail_io(e, z->path);
    a->widest = length > a->widest ? length : a->widest;
    a->rows++;
    return EK_OK;
}

/* Copy strings, padded with zeros to one width, to another file. */
static bool widen(struct array *a, char *path)
{
    static const char zeros[EK_NPZ_TEXT_MAX];
    char *text = ek_calloc(a->widest + 1, 1);
    FILE *to = spool(path);
    bool ok = text && to && write_padding(to) && !fseeko(a->file, 0, SEEK_SET);
    for (size_t i = 0; ok && i < a->rows; i++) {
        uint32_t n;
        ok = fread(&n, sizeof n, 1, a->file) == 1 && fread(text, 1, n, a->file) == n &&
             write_bytes(to, text, n) && write_bytes(to, zeros, a->widest - n);
    }
    ek_free(text);
    fclose(a->file);
    a->file = to;
    return ok;
}

/* Write a NumPy 1.0 header: magic, length, a Python dictionary padded with blanks and a newline. */
static bool write_header(struct array *a)
{
    char header[HEADER_BYTES + 1], type[NAME_BYTES], shape[NAME_BYTES];
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER_BYTES - MAGIC_BYTES);
    header[9] = 0;
    if (a->type == EK_NPZ_TEXT)
        snprintf(type, sizeof type, "|S%zu", a->widest ? a->widest : 1);
    else
        snprintf(type, sizeof type, "%s", a->type == EK_NPZ_INT32 ? "<i4" : "<f4");
    if (a->columns)
        snprintf(shape, sizeof shape, "(%zu, %zu)", a->rows, a->columns);
    else
        snprintf(shape, sizeof shape, "(%zu,)", a->rows);
    int n = snprintf(header + MAGIC_BYTES, sizeof header - MAGIC_BYTES,
                     "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    memset(header + MAGIC_BYTES + n, ' ', (size_t)(HEADER_BYTES - MAGIC_BYTES - n));
    header[HEADER_BYTES - 1] = '\n';
    /* libzip reads from the current position. */
    return !fseeko(a->file, 0, SEEK_SET) && write_bytes(a->file, header, HEADER_BYTES) &&
           !fflush(a->file) && !fseeko(a->file, 0, SEEK_SET);
}

/* For some failed allocations libzip sets no error code. */
static int fail_zip(struct ek_npz *z, zip_error_t *why, struct ek_error *e)
{
    int code = zip_error_code_zip(why);
    if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK)
        return ek_fail_at(e, EK_ENOMEM, z->path, 0, 0, "out of memory");
    return ek_fail_at(e, EK_EIO, z->path, 0, 0, "cannot write: %s", zip_error_strerror(why));
}

static int add_to_zip(struct ek_npz *z, zip_t *zip, struct array *a, struct ek_error *e)
{
    char name[NAME_BYTES];
    if (a->type == EK_NPZ_TEXT && a->widest == 0)
        a->widest = 1; /* NumPy has no strings of width 0 */
    if ((a->type == EK_NPZ_TEXT && !widen(a, z->path)) || !write_header(a))
        return fail_io(e, z->path);
    snprintf(name, sizeof name, "%s.npy", a->name);
    zip_source_t *source = zip_source_filep(zip, a->file, 0, -1);
    if (!source)
        return fail_zip(z, zip_get_error(zip), e);
    a->file = NULL; /* the zip source closes it */
    zip_int64_t at = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    if (at < 0) {
        zip_source_free(source);
        return fail_zip(z, zip_get_error(zip), e);
    }
    if (zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_DEFLATE, FAST) ||
        zip_file_set_dostime(zip, (zip_uint64_t)at, DOS_TIME, DOS_DATE, 0))
        return fail_zip(z, zip_get_error(zip), e);
    return EK_OK;
}

static int open_zip(struct ek_npz *z, zip_t **out, struct ek_error *e)
{
    int code;
    *out = zip_open(z->path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (*out)
        return EK_OK;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    int rc = fail_zip(z, &error, e);
    zip_error_fini(&error);
    return rc;
}

int ek_npz_close(struct ek_npz *z, struct ek_error *e)
{
    zip_t *zip;
    int rc = open_zip(z, &zip, e);
    if (rc) {
        ek_npz_abandon(z);
        return rc;
    }
    for (int i = 0; !rc && i < z->count; i++)
        rc = add_to_zip(z, zip, &z->array[i], e);
    if (!rc && zip_close(zip))
        rc = fail_zip(z, zip_get_error(zip), e);
    if (rc)
        zip_discard(zip);
    ek_npz_abandon(z);
    return rc;
}

void ek_npz_abandon(struct ek_npz *z)
{
    if (!z)
        return;
    for (int i = 0; i < z->count; i++)
        if (z->array[i].file)
            fclose(z->array[i].file);
    ek_free(z->path);
    ek_free(z);
}
