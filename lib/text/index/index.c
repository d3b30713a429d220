#include "text/index/index.h"

#include "base/alloc.h"
#include "base/file_error.h"
#include "base/hash.h"
#include "text/index/index_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int ek_index_damaged(const struct ek_index *x, const char *what, struct ek_error *e)
{
    return ek_fail_at(e, EK_EFORMAT, x->path, 0, 0, "damaged index: %s", what);
}

static int map_file(struct ek_index *x, int fd, struct ek_error *e)
{
    struct stat s;
    if (fstat(fd, &s))
        return ek_file_fail(e, x->path, "cannot read");
    if (!S_ISREG(s.st_mode)) {
        errno = S_ISDIR(s.st_mode) ? EISDIR : EINVAL;
        return ek_file_fail(e, x->path, "cannot map");
    }
    if ((uint64_t)s.st_size < sizeof x->footer + EK_INDEX_ALIGN)
        return ek_fail_at(e, EK_EFORMAT, x->path, 0, 0, "not an index: too short");
    void *map = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return ek_file_fail(e, x->path, "cannot map");
    x->map = map;
    x->size = (size_t)s.st_size;
    return EK_OK;
}

static int open_file(struct ek_index *x, struct ek_error *e)
{
    int fd = open(x->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ek_file_fail(e, x->path, "cannot open");
    int rc = map_file(x, fd, e);
    close(fd);
    return rc;
}

static int read_footer(struct ek_index *x, struct ek_error *e)
{
    struct ek_index_footer *f = &x->footer;
    if (memcmp(x->map, EK_INDEX_MAGIC, sizeof f->magic) != 0)
        return ek_fail_at(e, EK_EFORMAT, x->path, 0, 0,
                          "not an index of texts, as `evenkeel extract --collection` makes them");
    memcpy(f, x->map + x->size - sizeof *f, sizeof *f);
    if (memcmp(f->magic, EK_INDEX_MAGIC, sizeof f->magic) != 0)
        return ek_index_damaged(x, "its end is missing", e);
    if (f->byte_order != EK_INDEX_BYTE_ORDER)
        return ek_index_damaged(x, "made for machines of another byte order", e);
    if (f->hash != ek_hash(f, offsetof(struct ek_index_footer, hash), 0))
        return ek_index_damaged(x, "the footer is not what was written", e);
    if (f->version != EK_INDEX_VERSION)
        return ek_fail_at(e, EK_EFORMAT, x->path, 0, 0,
                          "index of version %u, this program reads version %d: build it again",
                          f->version, EK_INDEX_VERSION);
    if (!memchr(f->stemmer, 0, sizeof f->stemmer))
        return ek_index_damaged(x, "the footer is not what was written", e);
    return EK_OK;
}

/* Return whether all sections are within the file and tables have the expected lengths. */
static bool fits(const struct ek_index *x)
{
    const struct ek_index_footer *f = &x->footer;
    uint64_t room = x->size - sizeof *f, d = f->documents, t = f->terms;
    for (int i = 0; i < EK_SECTIONS; i++) {
        const struct ek_index_section *s = f->section + i;
        if (s->offset > room || s->length > room - s->offset || s->offset % EK_INDEX_ALIGN)
            return false;
    }
    uint64_t slots = f->section[EK_SECTION_SLOTS].length / sizeof(uint32_t);
    return f->section[EK_SECTION_LENGTHS].length == d * sizeof(uint32_t) &&
           f->section[EK_SECTION_ROWS].length == d * sizeof(struct ek_index_row) &&
           f->section[EK_SECTION_RANKS].length == t * sizeof(uint32_t) &&
           f->section[EK_SECTION_TERM_AT].length == (t + 1) * sizeof(uint64_t) &&
           (slots & (slots - 1)) == 0 && (slots || !d);
}

static const void *table(const struct ek_index *x, enum ek_section section)
{
    return x->map + x->footer.section[section].offset;
}

static bool is_whole(const struct ek_index *x, enum ek_section section)
{
    const struct ek_index_section *s = x->footer.section + section;
    const uint8_t *at = table(x, section);
    uint64_t hash = 0;
    for (uint64_t done = 0; done < s->length; done += EK_INDEX_HASHED) {
        uint64_t left = s->length - done;
        hash = ek_hash(at + done, left < EK_INDEX_HASHED ? (size_t)left : EK_INDEX_HASHED, hash);
    }
    return hash == s->hash;
}

/* Validate the tables at opening, for the calls that cannot fail. */
static int check_tables(const struct ek_index *x, struct ek_error *e)
{
    static const enum ek_section CHECKED[] = {EK_SECTION_LENGTHS, EK_SECTION_ROWS,
                                              EK_SECTION_SLOTS,   EK_SECTION_RANKS,
                                              EK_SECTION_TERMS,   EK_SECTION_TERM_AT};
    if (!fits(x))
        return ek_index_damaged(x, "sections do not fit into the file", e);
    for (size_t i = 0; i < sizeof CHECKED / sizeof *CHECKED; i++)
        if (!is_whole(x, CHECKED[i]))
            return ek_index_damaged(x, "a table is not what was written", e);
    return EK_OK;
}

int ek_index_open(struct ek_index **out, const char *path, struct ek_error *e)
{
    struct ek_index *x = ek_calloc(1, sizeof *x);
    if (!x)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    x->path = ek_strdup(path);
    int rc = x->path ? open_file(x, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = read_footer(x, e);
    if (!rc)
        rc = check_tables(x, e);
    if (rc) {
        ek_index_close(x);
        return rc;
    }
    x->lengths = table(x, EK_SECTION_LENGTHS);
    x->rows = table(x, EK_SECTION_ROWS);
    x->slots = table(x, EK_SECTION_SLOTS);
    x->ranks = table(x, EK_SECTION_RANKS);
    x->term_at = table(x, EK_SECTION_TERM_AT);
    x->slot_count = (size_t)(x->footer.section[EK_SECTION_SLOTS].length / sizeof *x->slots);
    *out = x;
    return EK_OK;
}

void ek_index_close(struct ek_index *x)
{
    if (!x)
        return;
    if (x->map)
        munmap((void *)(uintptr_t)x->map, x->size);
    ek_free(x->path);
    ek_free(x);
}

int ek_index_check(const struct ek_index *x, struct ek_error *e)
{
    for (int i = 0; i < EK_SECTIONS; i++)
        if (!is_whole(x, (enum ek_section)i))
            return ek_index_damaged(x, "a section is not what was written", e);
    return EK_OK;
}

uint32_t ek_index_documents(const struct ek_index *x)
{
    return x->footer.documents;
}

uint32_t ek_index_terms(const struct ek_index *x)
{
    return x->footer.terms;
}

const char *ek_index_stemmer(const struct ek_index *x)
{
    return x->footer.stemmer;
}

struct ek_field_statistics ek_index_field(const struct ek_index *x, enum ek_field field)
{
    return (struct ek_field_statistics){x->footer.field[field].tokens,
                                        x->footer.field[field].documents,
                                        x->footer.field[field].longest};
}

struct ek_bytes ek_index_section(const struct ek_index *x, enum ek_section section, uint64_t from)
{
    const struct ek_index_section *s = x->footer.section + section;
    const uint8_t *begin = table(x, section), *end = begin + s->length;
    return (struct ek_bytes){from <= s->length ? begin + from : end, end, from > s->length};
}
