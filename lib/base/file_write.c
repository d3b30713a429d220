/* Writers of base/file.h. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_error.h"
#include "base/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
    OUTPUT_BYTES = 128 << 10,
    SHORT_TEXT = 1024,
    NAME_TRIES = 1000,
    NAME_MORE = 48,
    ZSTD_LEVEL = 3
};
enum packing { PLAIN, GZIP, ZSTD };
enum ending { GO_ON, FLUSH, END };

struct ek_writer {
    char *name;               /* the caller's path, for errors */
    char *target, *temporary; /* NULL if written in place: stdout, pipes, devices */
    bool nameless;            /* unnamed temporary file, which needs no removal */
    int fd;
    mode_t mode;           /* permissions of a new file */
    bool failed;           /* a write failed, so close fails */
    struct ek_error first; /* the error that later calls repeat */
    enum packing packing;
    uint8_t *buffer; /* [OUTPUT_BYTES] pending output */
    size_t length;
    z_stream gzip;
    ZSTD_CStream *zstd;
};

static int fail_for_good(struct ek_writer *w, struct ek_error *e)
{
    w->failed = true;
    if (e)
        *e = w->first;
    return (int)w->first.code;
}

static int write_out(struct ek_writer *w, struct ek_error *e)
{
    if (ek_file_write_all(w->fd, w->buffer, w->length)) {
        ek_file_fail(&w->first, w->name, "cannot write");
        return fail_for_good(w, e);
    }
    w->length = 0;
    return EK_OK;
}

static int write_plain(struct ek_writer *w, const uint8_t *bytes, size_t length, struct ek_error *e)
{
    while (length) {
        size_t room = OUTPUT_BYTES - w->length, n = length < room ? length : room;
        memcpy(w->buffer + w->length, bytes, n);
        w->length += n;
        bytes += n;
        length -= n;
        if (w->length == OUTPUT_BYTES && write_out(w, e))
            return (int)w->first.code;
    }
    return EK_OK;
}

static int write_gzip(struct ek_writer *w, const uint8_t *bytes, size_t length, enum ending how,
                      struct ek_error *e)
{
    static const int modes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    int status = Z_OK;
    bool more = true;
    while (more) {
        size_t n = length < UINT32_MAX ? length : UINT32_MAX;
        w->gzip.next_in = (Bytef *)(uintptr_t)bytes;
        w->gzip.avail_in = (uInt)n;
        w->gzip.next_out = w->buffer + w->length;
        w->gzip.avail_out = (uInt)(OUTPUT_BYTES - w->length);
        status = deflate(&w->gzip, modes[how]);
        size_t taken = n - w->gzip.avail_in;
        bytes += taken;
        length -= taken;
        w->length = OUTPUT_BYTES - w->gzip.avail_out;
        bool full = w->gzip.avail_out == 0;
        if (full && write_out(w, e))
            return (int)w->first.code;
        more = length || full || (how == END && status == Z_OK);
    }
    return EK_OK;
}

static int write_zstd(struct ek_writer *w, const uint8_t *bytes, size_t length, enum ending how,
                      struct ek_error *e)
{
    static const ZSTD_EndDirective modes[] = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
    ZSTD_inBuffer in = {bytes, length, 0};
    size_t left = 1;
    while (how == GO_ON ? in.pos < in.size : left != 0) {
        ZSTD_outBuffer out = {w->buffer, OUTPUT_BYTES, w->length};
        left = ZSTD_compressStream2(w->zstd, &out, &in, modes[how]);
        if (ZSTD_isError(left)) {
            ek_fail_at(&w->first, EK_ENOMEM, w->name, 0, 0, "cannot compress: %s",
                       ZSTD_getErrorName(left));
            return fail_for_good(w, e);
        }
        w->length = out.pos;
        if (w->length == OUTPUT_BYTES && write_out(w, e))
            return (int)w->first.code;
    }
    return EK_OK;
}

static int write_packed(struct ek_writer *w, const void *bytes, size_t length, enum ending how,
                        struct ek_error *e)
{
    if (w->failed)
        return fail_for_good(w, e);
    switch (w->packing) {
    case GZIP:
        return write_gzip(w, bytes, length, how, e);
    case ZSTD:
        return write_zstd(w, bytes, length, how, e);
    default:
        return write_plain(w, bytes, length, e);
    }
}

static bool ends_in(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && !strcmp(text + n - m, ending);
}

static int start_packing(struct ek_writer *w, const char *path, struct ek_error *e)
{
    w->buffer = ek_calloc(OUTPUT_BYTES, 1);
    if (!w->buffer)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (ends_in(path, ".gz")) {
        if (deflateInit2(&w->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                         Z_DEFAULT_STRATEGY) != Z_OK)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        w->packing = GZIP;
    } else if (ends_in(path, ".zst")) {
        w->zstd = ZSTD_createCStream();
        if (!w->zstd)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
        w->packing = ZSTD;
    }
    return EK_OK;
}

/* Return 0, or -1 with errno set. */
static int create(struct ek_writer *w, const char *name)
{
    w->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, w->mode);
    return w->fd < 0 ? -1 : 0;
}

static int set_name(struct ek_writer *w, const char *name)
{
    char number[40];
    snprintf(number, sizeof number, "/proc/self/fd/%d", w->fd);
    return linkat(AT_FDCWD, number, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Create a temporary name in the target's folder. It contains the process id, so concurrent writers
 * do not collide. */
static int copy_name(struct ek_writer *w, int (*take)(struct ek_writer *w, const char *name),
                     struct ek_error *e)
{
    size_t size = strlen(w->target) + NAME_MORE;
    char *name = ek_calloc(size, 1);
    if (!name)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int status = -1;
    for (int i = 0; i < NAME_TRIES && status; i++) {
        snprintf(name, size, "%s.%ld-%d.tmp", w->target, (long)getpid(), i);
        status = take(w, name);
        if (status && errno != EEXIST)
            break;
    }
    if (status) {
        int rc = ek_file_fail(e, w->name, "cannot create");
        ek_free(name);
        return rc;
    }
    w->temporary = name;
    return EK_OK;
}

/* Open an unnamed file in the target's folder, which leaves no file behind if the process is
 * killed. Not every file system supports it, and linking it requires /proc. */
static bool open_nameless(struct ek_writer *w)
{
    const char *slash = strrchr(w->target, '/');
    size_t name = strlen(slash ? slash + 1 : w->target);
    if (access("/proc/self/fd", X_OK) || name + NAME_MORE > NAME_MAX)
        return false; /* a name that is too long must fail now, not at close */
    w->fd = ek_tmpfile_open(w->target, O_WRONLY, w->mode);
    w->nameless = w->fd >= 0;
    return w->nameless;
}

static int open_temporary(struct ek_writer *w, struct ek_error *e)
{
    return open_nameless(w) ? EK_OK : copy_name(w, create, e);
}

/* Resolve symbolic links of an existing target. */
static int find_target(struct ek_writer *w, const char *path, bool exists, struct ek_error *e)
{
    char *real = exists ? realpath(path, NULL) : NULL;
    w->target = ek_strdup(real ? real : path);
    ek_free(real);
    return w->target ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

/* Return true for standard output, as /dev/stdout: replacing the file would discard earlier
 * output. */
static bool is_stdout(const struct stat *s)
{
    struct stat own;
    return !fstat(STDOUT_FILENO, &own) && own.st_dev == s->st_dev && own.st_ino == s->st_ino;
}

/* Copy owner and permissions of the old file; drop set-id bits if the owner cannot be kept. */
static int write_after(struct ek_writer *w, const struct stat *s, struct ek_error *e)
{
    mode_t mode = fchown(w->fd, s->st_uid, s->st_gid) ? s->st_mode & 0777 : s->st_mode & 07777;
    return fchmod(w->fd, mode) ? ek_file_fail(e, w->name, "cannot set the permissions") : EK_OK;
}

static int open_output(struct ek_writer *w, const char *path, struct ek_error *e)
{
    if (!strcmp(path, "-")) {
        w->fd = STDOUT_FILENO;
        return EK_OK;
    }
    struct stat s;
    bool exists = !stat(path, &s);
    if (exists && is_stdout(&s)) {
        w->fd = STDOUT_FILENO;
        return EK_OK;
    }
    if (exists && !S_ISREG(s.st_mode)) {
        w->fd = open(path, O_WRONLY | O_CLOEXEC);
        return w->fd < 0 ? ek_file_fail(e, w->name, "cannot open for writing") : EK_OK;
    }
    int rc = find_target(w, path, exists, e);
    if (!rc)
        rc = open_temporary(w, e);
    return !rc && exists ? write_after(w, &s, e) : rc;
}

static int open_writer(struct ek_writer **out, const char *path, mode_t mode, struct ek_error *e)
{
    struct ek_writer *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    w->fd = -1;
    w->mode = mode;
    w->name = ek_strdup(strcmp(path, "-") != 0 ? path : "stdout");
    int rc = w->name ? start_packing(w, path, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = open_output(w, path, e);
    if (rc) {
        ek_writer_abandon(w);
        return rc;
    }
    *out = w;
    return EK_OK;
}

int ek_writer_open(struct ek_writer **out, const char *path, struct ek_error *e)
{
    return open_writer(out, path, 0666, e);
}

static bool can_open_twice(const char *path)
{
    struct stat s;
    return path && strcmp(path, "-") != 0 && (stat(path, &s) || S_ISREG(s.st_mode));
}

int ek_writer_try(const char *const *path, size_t count, struct ek_error *e)
{
    for (size_t i = 0; i < count; i++) {
        struct ek_writer *w;
        if (!can_open_twice(path[i]))
            continue;
        int rc = ek_writer_open(&w, path[i], e);
        if (rc)
            return rc;
        ek_writer_abandon(w);
    }
    return EK_OK;
}

int ek_writer_open_private(struct ek_writer **out, const char *path, struct ek_error *e)
{
    return open_writer(out, path, 0600, e);
}

int ek_writer_write(struct ek_writer *w, const void *bytes, size_t length, struct ek_error *e)
{
    return write_packed(w, bytes, length, GO_ON, e);
}

int ek_writer_printf(struct ek_writer *w, struct ek_error *e, const char *format, ...)
{
    char brief[SHORT_TEXT];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(brief, sizeof brief, format, args);
    va_end(args);
    char *text = brief;
    if (size >= SHORT_TEXT) {
        text = ek_calloc((size_t)size + 1, 1);
        if (text)
            vsnprintf(text, (size_t)size + 1, format, again);
    }
    va_end(again);
    int rc = size < 0 || !text ? ek_fail(e, EK_ENOMEM, "out of memory")
                               : ek_writer_write(w, text, (size_t)size, e);
    if (text != brief)
        ek_free(text);
    return rc;
}

int ek_writer_flush(struct ek_writer *w, struct ek_error *e)
{
    int rc = write_packed(w, NULL, 0, FLUSH, e);
    return rc ? rc : write_out(w, e);
}

static int publish(struct ek_writer *w, struct ek_error *e)
{
    if (!w->target)
        return EK_OK;
    if (fsync(w->fd))
        return ek_file_fail(e, w->name, "cannot write");
    int rc = w->nameless ? copy_name(w, set_name, e) : EK_OK;
    if (rc)
        return rc;
    int status = close(w->fd);
    w->fd = -1;
    if (status || rename(w->temporary, w->target))
        return ek_file_fail(e, w->name, "cannot write");
    ek_free(w->temporary);
    w->temporary = NULL; /* renamed, so not to be removed */
    return EK_OK;
}

int ek_writer_close(struct ek_writer *w, struct ek_error *e)
{
    int rc = write_packed(w, NULL, 0, END, e);
    if (!rc)
        rc = write_out(w, e);
    if (!rc)
        rc = publish(w, e);
    ek_writer_abandon(w);
    return rc;
}

void ek_writer_abandon(struct ek_writer *w)
{
    if (!w)
        return;
    if (w->packing == GZIP)
        deflateEnd(&w->gzip);
    ZSTD_freeCStream(w->zstd);
    if (w->fd > STDERR_FILENO)
        close(w->fd);
    if (w->temporary)
        unlink(w->temporary);
    ek_free(w->temporary);
    ek_free(w->target);
    ek_free(w->buffer);
    ek_free(w->name);
    ek_free(w);
}

int ek_file_write(const char *path, const char *text, struct ek_error *e)
{
    return ek_file_write_bytes(path, text, strlen(text), e);
}

int ek_file_write_bytes(const char *path, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_writer *w;
    int rc = ek_writer_open(&w, path, e);
    if (rc)
        return rc;
    rc = ek_writer_write(w, bytes, length, e);
    if (!rc)
        return ek_writer_close(w, e);
    ek_writer_abandon(w);
    return rc;
}

/* zlib's value for the largest window with a gzip header; its highest memory level. */
enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 9, BLOCK_BYTES = 16384 };

int ek_gzip(const void *bytes, size_t length, struct ek_buf *out)
{
    z_stream z = {0};
    unsigned char block[BLOCK_BYTES];
    if (length > UINT_MAX || deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                                          MEMORY_LEVEL, Z_DEFAULT_STRATEGY))
        return EK_ENOMEM;
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (unsigned)length;
    int ended, rc;
    do {
        z.next_out = block;
        z.avail_out = sizeof block;
        ended = deflate(&z, Z_FINISH);
        rc = ek_buf_add(out, block, sizeof block - z.avail_out);
    } while (!rc && ended == Z_OK);
    deflateEnd(&z);
    return rc ? rc : ended == Z_STREAM_END ? EK_OK : EK_ENOMEM;
}
