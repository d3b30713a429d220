#include "text/index/index.h"

#include "base/alloc.h"
#include "base/file_error.h"
#include "base/hash.h"
#include "text/index/index_internal.h"
#include "text/index/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fail with the damage `what` and the path of the index. Return EK_EFORMAT. */
static int index_damaged(const struct ek_index *x, const char *what, struct ek_error *e)
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
        return index_damaged(x, "its end is missing", e);
    if (f->byte_order != EK_INDEX_BYTE_ORDER)
        return index_damaged(x, "made for machines of another byte order", e);
    if (f->hash != ek_hash(f, offsetof(struct ek_index_footer, hash), 0))
        return index_damaged(x, "the footer is not what was written", e);
    if (f->version != EK_INDEX_VERSION)
        return ek_fail_at(e, EK_EFORMAT, x->path, 0, 0,
                          "index of version %u, this program reads version %d: build it again",
                          f->version, EK_INDEX_VERSION);
    if (!memchr(f->stemmer, 0, sizeof f->stemmer))
        return index_damaged(x, "the footer is not what was written", e);
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
        return index_damaged(x, "sections do not fit into the file", e);
    for (size_t i = 0; i < sizeof CHECKED / sizeof *CHECKED; i++)
        if (!is_whole(x, CHECKED[i]))
            return index_damaged(x, "a table is not what was written", e);
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
            return index_damaged(x, "a section is not what was written", e);
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

/* Dictionary of an index. */
static const char *term_text(struct ek_bytes *b, size_t *length)
{
    uint64_t n = ek_varint_get(b);
    const uint8_t *text = ek_bytes_read(b, n);
    *length = text ? (size_t)n : 0;
    return (const char *)text;
}

static void get_counts(struct ek_bytes *b, struct ek_term_statistics *s)
{
    uint64_t documents = ek_varint_get_bounded(b, UINT32_MAX - 1), more = ek_varint_get(b);
    *s = (struct ek_term_statistics){(uint32_t)documents + 1, documents + 1 + more,
                                     (uint32_t)ek_varint_get_bounded(b, UINT32_MAX - 1) + 1};
}

static void get_statistics(struct ek_bytes *b, struct ek_term_statistics *s)
{
    const uint8_t *mask = ek_bytes_read(b, 1);
    struct ek_term_statistics *whole = s + EK_FIELD_DOCUMENT;
    uint64_t tokens = 0;
    int fields = 0;
    memset(s, 0, sizeof *s * EK_FIELDS_AND_DOCUMENT);
    for (int f = 0; mask && f < EK_FIELDS; f++) {
        if (!(*mask >> f & 1))
            continue;
        get_counts(b, s + f);
        tokens += s[f].tokens;
        *whole = s[f];
        fields++;
    }
    if (fields > 1)
        get_counts(b, whole);
    b->bad = b->bad || whole->tokens != tokens || whole->documents > tokens;
}

bool ek_index_entry(const struct ek_index *x, uint32_t term, struct ek_index_entry *entry)
{
    struct ek_bytes b = ek_index_section(x, EK_SECTION_TERMS, x->term_at[term]);
    entry->text = term_text(&b, &entry->length);
    get_statistics(&b, entry->statistics);
    entry->postings = ek_varint_get(&b);
    entry->postings_bytes = ek_varint_get(&b);
    return !b.bad;
}

const char *ek_index_term(const struct ek_index *x, uint32_t term, size_t *length)
{
    struct ek_bytes b = ek_index_section(x, EK_SECTION_TERMS, x->term_at[term]);
    const char *text = term_text(&b, length);
    return text ? text : "";
}

uint32_t ek_index_find(const struct ek_index *x, const char *term, size_t length)
{
    uint32_t low = 0, high = x->footer.terms;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t n;
        const char *text = ek_index_term(x, middle, &n);
        int order = memcmp(term, text, n < length ? n : length);
        if (!order)
            order = (length > n) - (length < n);
        if (!order)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return EK_NO_TERM;
}

struct ek_term_statistics ek_index_statistics(const struct ek_index *x, uint32_t term,
                                              enum ek_field field)
{
    struct ek_index_entry entry;
    if (!ek_index_entry(x, term, &entry))
        return (struct ek_term_statistics){0};
    return entry.statistics[field];
}

/* Documents of an index. */
/* Read the id and URL of a document. Return the remaining bytes of the record, its terms. */
static struct ek_bytes record(const struct ek_index *x, uint32_t number, struct ek_document *d)
{
    struct ek_bytes b = ek_index_section(x, EK_SECTION_FORWARD, x->rows[number].forward);
    d->id_length = (size_t)ek_varint_get(&b);
    d->id = (const char *)ek_bytes_read(&b, d->id_length);
    d->url_length = (size_t)ek_varint_get(&b);
    d->url = (const char *)ek_bytes_read(&b, d->url_length);
    return b;
}

int64_t ek_index_document(const struct ek_index *x, const char *id, size_t length)
{
    size_t mask = x->slot_count - 1, at = (uint32_t)ek_hash(id, length, 0);
    for (size_t tries = 0; tries < x->slot_count; tries++, at++) {
        uint32_t slot = x->slots[at & mask];
        struct ek_document d;
        if (!slot || slot > x->footer.documents)
            return -1;
        if (!record(x, slot - 1, &d).bad && d.id_length == length && !memcmp(d.id, id, length))
            return slot - 1;
    }
    return -1;
}

/* Set *begin and *end to the range of a field in the terms of a document. Return false if the row
 * is damaged. */
static bool index_bounds(const struct ek_index *x, uint32_t number, enum ek_field field,
                         uint32_t *begin, uint32_t *end)
{
    const uint32_t *ends = x->rows[number].end;
    uint32_t all = x->lengths[number];
    *begin = field == EK_FIELD_TITLE || field == EK_FIELD_DOCUMENT ? 0 : ends[field - 1];
    *end = field >= EK_FIELDS - 1 ? all : ends[field];
    return *begin <= *end && *end <= all;
}

uint32_t ek_index_length(const struct ek_index *x, uint32_t number, enum ek_field field)
{
    uint32_t begin, end;
    return index_bounds(x, number, field, &begin, &end) ? end - begin : 0;
}

void ek_document_init(struct ek_document *d)
{
    *d = (struct ek_document){0};
}

void ek_document_release(struct ek_document *d)
{
    ek_free(d->memory);
    ek_document_init(d);
}

static int reserve_documents(struct ek_document *d, size_t count, struct ek_error *e)
{
    if (count <= d->capacity && d->memory)
        return EK_OK;
    uint32_t *larger = ek_realloc(d->memory, count + count / 2 + 1, sizeof *larger);
    if (!larger)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    d->memory = larger;
    d->capacity = count + count / 2 + 1;
    return EK_OK;
}

/* Convert term numbers from order of appearance to byte order. */
static bool rank(const struct ek_index *x, uint32_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i] >= x->footer.terms || x->ranks[terms[i]] >= x->footer.terms)
            return false;
        terms[i] = x->ranks[terms[i]];
    }
    return true;
}

int ek_index_read(const struct ek_index *x, uint32_t number, struct ek_document *d,
                  struct ek_error *e)
{
    if (number >= x->footer.documents)
        return ek_fail_at(e, EK_EUSAGE, x->path, 0, 0, "there is no document %u", number);
    struct ek_bytes b = record(x, number, d);
    uint32_t count = x->lengths[number];
    size_t left = (size_t)(b.end - b.at), used;
    /* Four terms take at least five bytes, so a damaged count cannot cause a large allocation. */
    if (b.bad || count > left || count / 4 * 5 > left)
        return index_damaged(x, "a document does not end", e);
    int rc = reserve_documents(d, count, e);
    if (rc)
        return rc;
    if (!ek_pack_decode(EK_PACK_WIDE, b.at, left, count, d->memory, &used) ||
        !rank(x, d->memory, count))
        return index_damaged(x, "a document has terms that there are not", e);
    d->number = number;
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++) {
        uint32_t begin, end;
        if (!index_bounds(x, number, (enum ek_field)f, &begin, &end))
            return index_damaged(x, "a field ends before it begins", e);
        d->term[f] = d->memory + begin;
        d->length[f] = end - begin;
    }
    return EK_OK;
}

/* Postings of one field, derived from those of whole documents. */
int ek_blocks_begin(struct ek_blocks *b, const struct ek_index *x, uint32_t term,
                    struct ek_error *e)
{
    struct ek_index_entry entry;
    b->index = x;
    b->position = NULL;
    b->position_count = b->position_room = 0;
    b->count = b->left = 0;
    b->last = -1;
    if (term >= x->footer.terms)
        return ek_fail_at(e, EK_EUSAGE, x->path, 0, 0, "there is no term %u", term);
    if (!ek_index_entry(x, term, &entry))
        return index_damaged(x, "a term cannot be read", e);
    struct ek_bytes all = ek_index_section(x, EK_SECTION_POSTINGS, entry.postings);
    b->bytes.at = ek_bytes_read(&all, entry.postings_bytes);
    b->left = entry.statistics[EK_FIELD_DOCUMENT].documents;
    if (all.bad || !b->left)
        return index_damaged(x, "postings lie beyond their section", e);
    b->bytes.end = all.at;
    b->bytes.bad = false;
    return EK_OK;
}

/* Free the cursor. */
static void blocks_end(struct ek_blocks *b)
{
    ek_free(b->position);
    b->position = NULL;
}

static struct ek_bytes part(struct ek_bytes *from, uint64_t length)
{
    const uint8_t *at = ek_bytes_read(from, length);
    return (struct ek_bytes){at, from->at, from->bad};
}

int ek_blocks_next(struct ek_blocks *b, struct ek_error *e)
{
    uint32_t documents = b->index->footer.documents;
    if (b->count && b->summary)
        b->last = b->highest;
    b->count = 0;
    if (!b->left)
        return EK_OK;
    uint64_t head = ek_varint_get(&b->bytes), count = head >> 1;
    uint64_t body = ek_varint_get(&b->bytes), places = ek_varint_get(&b->bytes);
    b->summary = head & 1;
    if (b->summary) {
        b->highest = (uint32_t)(b->last + 1 + (int64_t)ek_varint_get_bounded(&b->bytes, documents));
        b->most = (uint32_t)ek_varint_get_bounded(&b->bytes, UINT32_MAX);
        b->shortest = (uint32_t)ek_varint_get_bounded(&b->bytes, UINT32_MAX);
    }
    b->body = part(&b->bytes, body);
    b->places = part(&b->bytes, places);
    if (b->bytes.bad || !count || count > EK_INDEX_BLOCK || count > b->left ||
        (b->summary && b->highest >= documents))
        return index_damaged(b->index, "a block of postings is none", e);
    b->count = (uint32_t)count;
    b->left -= b->count;
    return EK_OK;
}

int ek_blocks_documents(struct ek_blocks *b, struct ek_error *e)
{
    size_t left = (size_t)(b->body.end - b->body.at), used, more;
    uint64_t sum = 0;
    int64_t document = b->last;
    bool good =
        ek_pack_decode(EK_PACK_WIDE, b->body.at, left, b->count, b->document, &used) &&
        ek_pack_decode(EK_PACK_SMALL, b->body.at + used, left - used, b->count, b->tf, &more);
    for (uint32_t i = 0; good && i < b->count; i++) {
        document += (int64_t)b->document[i] + 1;
        good = document < b->index->footer.documents && b->tf[i] < UINT32_MAX;
        b->document[i] = (uint32_t)document;
        sum += ++b->tf[i];
    }
    if (!good || (b->summary && document != b->highest))
        return index_damaged(b->index, "documents of a term do not rise", e);
    b->position_count = sum;
    if (!b->summary)
        b->last = document;
    return EK_OK;
}

/* Decode the positions of this block, after its documents. Return 0, EK_EFORMAT for a damaged
 * index, or EK_ENOMEM. */
static int blocks_positions(struct ek_blocks *b, struct ek_error *e)
{
    size_t left = (size_t)(b->places.end - b->places.at), used;
    if (b->position_count > left)
        return index_damaged(b->index, "positions are missing", e);
    if (b->position_count > b->position_room) {
        size_t room = b->position_count + b->position_count / 2;
        uint32_t *larger = ek_realloc(b->position, room, sizeof *larger);
        if (!larger)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        b->position = larger;
        b->position_room = room;
    }
    if (b->position_count > UINT32_MAX ||
        !ek_pack_decode(EK_PACK_WIDE, b->places.at, left, (uint32_t)b->position_count, b->position,
                        &used))
        return index_damaged(b->index, "positions are missing", e);
    return EK_OK;
}

struct cursor {
    struct ek_blocks blocks;
    enum ek_field field;
    bool whole;     /* whole document: counts need no positions */
    bool positions; /* requested by the caller */
    uint32_t next;  /* index in the block */
    size_t place;   /* offset of its positions */
    uint32_t *made; /* positions of this document */
    size_t room;
};

int ek_postings_begin(struct ek_postings *p, const struct ek_index *x, uint32_t term,
                      enum ek_field field, bool positions, struct ek_error *e)
{
    *p = (struct ek_postings){0};
    struct cursor *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->field = field;
    c->whole = field == EK_FIELD_DOCUMENT;
    c->positions = positions;
    int rc = ek_blocks_begin(&c->blocks, x, term, e);
    if (rc) {
        ek_free(c);
        return rc;
    }
    p->memory = c;
    return EK_OK;
}

void ek_postings_end(struct ek_postings *p)
{
    struct cursor *c = p->memory;
    if (c) {
        blocks_end(&c->blocks);
        ek_free(c->made);
        ek_free(c);
    }
    *p = (struct ek_postings){0};
}

static int next_block(struct cursor *c, struct ek_error *e)
{
    c->next = 0;
    c->place = 0;
    int rc = ek_blocks_next(&c->blocks, e);
    if (!rc && c->blocks.count)
        rc = ek_blocks_documents(&c->blocks, e);
    if (!rc && c->blocks.count && (c->positions || !c->whole))
        rc = blocks_positions(&c->blocks, e);
    return rc;
}

static int reserve_positions(struct cursor *c, size_t count, struct ek_error *e)
{
    if (count <= c->room)
        return EK_OK;
    uint32_t *larger = ek_realloc(c->made, 2 * count, sizeof *larger);
    if (!larger)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->made = larger;
    c->room = 2 * count;
    return EK_OK;
}

/* Decode the positions of document `i` of the block within the field, relative to its beginning. */
static int read_positions(struct cursor *c, uint32_t i, uint32_t *count, struct ek_error *e)
{
    const struct ek_blocks *b = &c->blocks;
    uint32_t begin, end, tf = b->tf[i], n = 0;
    uint64_t at = 0, length = b->index->lengths[b->document[i]];
    const uint32_t *gap = b->position + c->place;
    c->place += tf;
    int rc = reserve_positions(c, tf, e);
    if (rc)
        return rc;
    if (!index_bounds(b->index, b->document[i], c->field, &begin, &end))
        return index_damaged(b->index, "a field ends before it begins", e);
    for (uint32_t j = 0; j < tf; j++, at++) {
        at += gap[j];
        if (at >= begin && at < end)
            c->made[n++] = (uint32_t)at - begin;
    }
    *count = n;
    return at <= length ? EK_OK : index_damaged(b->index, "a position lies behind its document", e);
}

int ek_postings_next(struct ek_postings *p, bool *more, struct ek_error *e)
{
    struct cursor *c = p->memory;
    for (;;) {
        int rc = c->next == c->blocks.count ? next_block(c, e) : EK_OK;
        *more = !rc && c->blocks.count;
        if (!*more)
            return rc;
        uint32_t i = c->next++, count = c->blocks.tf[i];
        if (c->positions || !c->whole)
            rc = read_positions(c, i, &count, e);
        if (rc) {
            *more = false;
            return rc;
        }
        if (!count)
            continue;
        p->document = c->blocks.document[i];
        p->count = count;
        p->position = c->positions ? c->made : NULL;
        return EK_OK;
    }
}
