#include "text/index/build.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/portable.h"
#include "text/index/build_internal.h"
#include "text/index/field.h"
#include "text/index/packed.h"
#include "text/index/spill_file.h"
#include "text/index/varint.h"
#include "text/index/words.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LEXICON_ROOM = 1024, FIRST_BYTES = 16 << 10, FIRST_SLOTS = 64 };

struct ek_lexicon_entry {
    uint32_t at, length;
};

/* Initialize an empty lexicon, without allocating. */
static void lexicon_init(struct ek_lexicon *n)
{
    *n = (struct ek_lexicon){0};
}

/* Free the memory; the lexicon is then empty. */
static void lexicon_release(struct ek_lexicon *n)
{
    ek_free(n->names);
    ek_free(n->slots);
    ek_free(n->bytes);
    lexicon_init(n);
}

static bool is_same(const struct ek_lexicon *n, const struct ek_slot *slot, uint32_t hash,
                    const char *bytes, size_t length)
{
    if (slot->hash != hash)
        return false;
    const struct ek_lexicon_entry *name = n->names + slot->number - 1;
    return name->length == length && !memcmp(n->bytes + name->at, bytes, length);
}

static int widen(struct ek_lexicon *n)
{
    size_t count = n->slot_count ? 2 * n->slot_count : FIRST_SLOTS;
    struct ek_slot *slots = ek_calloc(count, sizeof *slots);
    if (!slots)
        return EK_ENOMEM;
    for (size_t i = 0; i < n->slot_count; i++) {
        size_t at = n->slots[i].hash & (count - 1);
        if (!n->slots[i].number)
            continue;
        while (slots[at].number)
            at = (at + 1) & (count - 1);
        slots[at] = n->slots[i];
    }
    ek_free(n->slots);
    n->slots = slots;
    n->slot_count = count;
    return EK_OK;
}

static int reserve_names(struct ek_lexicon *n, size_t length)
{
    if (n->count == UINT32_MAX - 1 || length > UINT32_MAX - n->length)
        return EK_ELIMIT;
    if (n->count == n->room) {
        uint32_t room = n->room > UINT32_MAX / 2 ? UINT32_MAX
                        : n->room                ? 2 * n->room
                                                 : LEXICON_ROOM;
        struct ek_lexicon_entry *larger = ek_realloc(n->names, room, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        n->names = larger;
        n->room = room;
    }
    if (length > n->capacity - n->length) {
        size_t capacity = (n->capacity ? n->capacity + n->capacity / 2 : FIRST_BYTES) + length;
        char *larger = ek_realloc(n->bytes, capacity, 1);
        if (!larger)
            return EK_ENOMEM;
        n->bytes = larger;
        n->capacity = capacity;
    }
    return n->count + 1 > n->slot_count / 2 ? widen(n) : EK_OK;
}

static size_t slot_of(const struct ek_lexicon *n, uint32_t hash, const char *bytes, size_t length)
{
    size_t at = hash & (n->slot_count - 1);
    while (n->slots[at].number && !is_same(n, n->slots + at, hash, bytes, length))
        at = (at + 1) & (n->slot_count - 1);
    return at;
}

/* Add a copy of a string if it is new; set *number to its number and *added to whether it is new.
 * Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limits above; on error nothing changes. */
static int lexicon_add(struct ek_lexicon *n, const char *bytes, size_t length, uint32_t *number,
                       bool *added)
{
    uint32_t hash = (uint32_t)ek_hash(bytes, length, 0);
    size_t at = 0;
    *added = false;
    if (n->slot_count) {
        at = slot_of(n, hash, bytes, length);
        if (n->slots[at].number) {
            *number = n->slots[at].number - 1;
            return EK_OK;
        }
    }
    int rc = reserve_names(n, length);
    if (rc)
        return rc;
    at = slot_of(n, hash, bytes, length);
    n->names[n->count] = (struct ek_lexicon_entry){(uint32_t)n->length, (uint32_t)length};
    memcpy(n->bytes + n->length, bytes, length);
    n->length += length;
    *number = n->count++;
    n->slots[at] = (struct ek_slot){n->count, hash};
    *added = true;
    return EK_OK;
}

/* Return string `number`, not terminated, and set *length; valid until the next addition. */
static const char *lexicon_text(const struct ek_lexicon *n, uint32_t number, size_t *length)
{
    *length = n->names[number].length;
    return n->bytes + n->names[number].at;
}

/* Return the allocated bytes. */
static uint64_t lexicon_memory(const struct ek_lexicon *n)
{
    return (uint64_t)n->room * sizeof *n->names + n->slot_count * sizeof *n->slots + n->capacity;
}

/* Dictionary writer: terms in byte order. */
static int by_bytes(const void *a, const void *b, void *context)
{
    const struct ek_lexicon *names = context;
    size_t m, n;
    const char *p = lexicon_text(names, *(const uint32_t *)a, &m);
    const char *q = lexicon_text(names, *(const uint32_t *)b, &n);
    int order = memcmp(p, q, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

static int write_ranks(struct ek_build *b, const uint32_t *order, struct ek_error *e)
{
    uint32_t count = b->terms.count;
    uint32_t *ranks = ek_calloc(count, sizeof *ranks);
    if (!ranks)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        ranks[order[i]] = i;
    int rc = ek_index_writer_begin(&b->out, EK_SECTION_RANKS, e);
    if (!rc)
        rc = ek_index_writer_add(&b->out, ranks, count * sizeof *ranks, e);
    ek_index_writer_end(&b->out);
    ek_free(ranks);
    return rc;
}

static int write_entry(struct ek_build *b, uint32_t term, struct ek_error *e)
{
    uint8_t head[EK_VARINT_BYTES_MAX];
    size_t length;
    const char *text = lexicon_text(&b->terms, term, &length);
    int rc = ek_index_writer_add(&b->out, head, ek_varint_write(head, length), e);
    if (!rc)
        rc = ek_index_writer_add(&b->out, text, length, e);
    return rc ? rc
              : ek_index_writer_add(&b->out, b->entries.data + b->entry_at[term],
                                    (size_t)(b->entry_at[term + 1] - b->entry_at[term]), e);
}

static int write_terms(struct ek_build *b, const uint32_t *order, uint64_t *at, struct ek_error *e)
{
    int rc = ek_index_writer_begin(&b->out, EK_SECTION_TERMS, e);
    for (uint32_t i = 0; i < b->terms.count && !rc; i++) {
        at[i] = ek_index_writer_length(&b->out);
        rc = write_entry(b, order[i], e);
    }
    at[b->terms.count] = ek_index_writer_length(&b->out);
    ek_index_writer_end(&b->out);
    if (!rc)
        rc = ek_index_writer_begin(&b->out, EK_SECTION_TERM_AT, e);
    if (!rc)
        rc = ek_index_writer_add(&b->out, at, ((size_t)b->terms.count + 1) * sizeof *at, e);
    ek_index_writer_end(&b->out);
    return rc;
}

/* Write the sections ranks, terms and term offsets. Return 0, EK_EIO or EK_ENOMEM. */
static int build_dictionary(struct ek_build *b, struct ek_error *e)
{
    uint32_t count = b->terms.count;
    uint32_t *order = ek_calloc(count, sizeof *order);
    uint64_t *at = ek_calloc((size_t)count + 1, sizeof *at);
    int rc = order && at ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        ek_sort_with(order, count, sizeof *order, by_bytes, &b->terms);
        b->out.footer.terms = count;
        rc = write_ranks(b, order, e);
    }
    if (!rc)
        rc = write_terms(b, order, at, e);
    ek_free(order);
    ek_free(at);
    return rc;
}

/* The places of a term are a linked list of slices that double in size up to SLICE_MOST. Slices are
 * in slabs and numbered in units, from 1. */
enum {
    UNIT = 8,
    SLAB_UNITS = 8192,
    SLAB_BYTES = UNIT * SLAB_UNITS,
    SLICE_FIRST = 16,
    SLICE_MOST = 1024,
    PLACE_BYTES_MAX = 16, /* of one place; fits the shortest slice */
    FIRST_TERMS = 1024
};

struct ek_places {
    uint32_t head, tail; /* 0: none */
    uint32_t document, position;
    uint32_t field;
};

struct slice {
    uint32_t next;
    uint16_t size, used; /* bytes that follow */
};

static void run_writer_init(struct ek_run_writer *g)
{
    *g = (struct ek_run_writer){0};
}

void ek_run_writer_release(struct ek_run_writer *g)
{
    for (size_t i = 0; i < g->slab_count; i++)
        ek_free(g->slabs[i]);
    ek_free(g->slabs);
    ek_free(g->terms);
    run_writer_init(g);
}

static struct slice *slice_at(const struct ek_run_writer *g, uint32_t unit)
{
    uint32_t at = unit - 1;
    return (struct slice *)(void *)(g->slabs[at / SLAB_UNITS] + (size_t)(at % SLAB_UNITS) * UNIT);
}

static const struct ek_places NOWHERE = {0, 0, UINT32_MAX, UINT32_MAX, EK_FIELD_BODY};

static int know_term(struct ek_run_writer *g, uint32_t term)
{
    if (term >= g->room) {
        uint32_t room =
            term > UINT32_MAX / 2 ? UINT32_MAX : 2 * (term < FIRST_TERMS ? FIRST_TERMS : term);
        struct ek_places *larger = ek_realloc(g->terms, room, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        g->terms = larger;
        g->room = room;
    }
    while (g->count <= term)
        g->terms[g->count++] = NOWHERE;
    return EK_OK;
}

static int next_slab(struct ek_run_writer *g)
{
    size_t next = g->slab_count ? g->slab + 1 : 0;
    if (next == g->slab_count) {
        uint8_t **larger = ek_grow(g->slabs, next, &g->slab_room, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        g->slabs = larger;
        if (next >= UINT32_MAX / SLAB_UNITS)
            return EK_ELIMIT;
        g->slabs[next] = ek_realloc(NULL, SLAB_BYTES, 1);
        if (!g->slabs[next])
            return EK_ENOMEM;
        g->slab_count++;
    }
    g->slab = next;
    g->used = 0;
    return EK_OK;
}

static int new_slice(struct ek_run_writer *g, struct ek_places *p)
{
    struct slice *last = p->tail ? slice_at(g, p->tail) : NULL;
    uint32_t size = !last ? SLICE_FIRST : last->size < SLICE_MOST ? 2u * last->size : SLICE_MOST;
    uint32_t units = (uint32_t)(sizeof *last + size) / UNIT;
    if (!g->slab_count || g->used + units > SLAB_UNITS) {
        int rc = next_slab(g);
        if (rc)
            return rc;
    }
    uint32_t unit = (uint32_t)g->slab * SLAB_UNITS + g->used + 1;
    g->used += units;
    *slice_at(g, unit) = (struct slice){0, (uint16_t)size, 0};
    if (last)
        last->next = unit;
    else
        p->head = unit;
    p->tail = unit;
    return EK_OK;
}

/* Add a term at a position in the document, whose fields are concatenated. Documents and positions
 * must not descend. Return 0, EK_ENOMEM or EK_ELIMIT. */
static int run_writer_add(struct ek_run_writer *g, uint32_t term, uint32_t document,
                          enum ek_field field, uint32_t position)
{
    uint8_t place[2 * EK_VARINT_BYTES_MAX + 1];
    int rc = term < g->count ? EK_OK : know_term(g, term);
    if (rc)
        return rc;
    struct ek_places *p = g->terms + term;
    unsigned kind = 0;
    if (p->document != document) {
        kind |= EK_PLACE_DOCUMENT;
        p->position = UINT32_MAX;
    }
    if (p->field != (uint32_t)field)
        kind |= EK_PLACE_FIELD;
    size_t n =
        ek_varint_write(place, (uint64_t)(position - p->position - 1) << EK_PLACE_BITS | kind);
    if (kind & EK_PLACE_DOCUMENT)
        n += ek_varint_write(place + n, document - p->document - 1);
    if (kind & EK_PLACE_FIELD)
        place[n++] = (uint8_t)field;
    struct slice *s = p->tail ? slice_at(g, p->tail) : NULL;
    if (!s || s->used + n > s->size) {
        rc = new_slice(g, p);
        if (rc)
            return rc;
        s = slice_at(g, p->tail);
    }
    memcpy((uint8_t *)(s + 1) + s->used, place, n);
    s->used = (uint16_t)(s->used + n);
    p->document = document;
    p->position = position;
    p->field = (uint32_t)field;
    return EK_OK;
}

static int spill_term(const struct ek_run_writer *g, const struct ek_places *p, uint32_t gap,
                      struct ek_spill_file *to, struct ek_error *e)
{
    uint8_t head[2 * EK_VARINT_BYTES_MAX];
    uint64_t bytes = 0;
    for (uint32_t at = p->head; at; at = slice_at(g, at)->next)
        bytes += slice_at(g, at)->used;
    size_t n = ek_varint_write(head, gap);
    n += ek_varint_write(head + n, bytes);
    int rc = ek_spill_file_add(to, head, n, e);
    for (uint32_t at = p->head; at && !rc; at = slice_at(g, at)->next)
        rc = ek_spill_file_add(to, slice_at(g, at) + 1, slice_at(g, at)->used, e);
    return rc;
}

/* Append a run to `to` and reset, keeping the memory. Return 0, or EK_EIO. */
static int run_writer_spill(struct ek_run_writer *g, struct ek_spill_file *to, struct ek_error *e)
{
    uint32_t last = UINT32_MAX;
    int rc = EK_OK;
    for (uint32_t t = 0; t < g->count && !rc; t++) {
        if (!g->terms[t].head)
            continue;
        rc = spill_term(g, g->terms + t, t - last - 1, to, e);
        last = t;
        g->terms[t] = NOWHERE;
    }
    g->slab = 0;
    g->used = 0;
    return rc;
}

/* Return the bytes that a spill frees, and those that it does not. */
static uint64_t run_writer_places(const struct ek_run_writer *g)
{
    return g->slab_count ? (uint64_t)g->slab * SLAB_BYTES + (uint64_t)g->used * UNIT : 0;
}

static uint64_t run_writer_table(const struct ek_run_writer *g)
{
    return (uint64_t)g->room * sizeof *g->terms;
}

enum { FIRST_ROOM = 4096, COPIED = 64 << 10, SLOTS = 1024 };

int ek_numbers_add(struct ek_numbers *n, uint32_t number)
{
    if (n->count == n->room) {
        size_t room = n->room ? n->room + n->room / 2 : FIRST_ROOM;
        uint32_t *larger = ek_realloc(n->data, room, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        n->data = larger;
        n->room = room;
    }
    n->data[n->count++] = number;
    return EK_OK;
}

static int prepare(struct ek_build *b, const char *path, const char *stemmer, struct ek_error *e)
{
    b->path = ek_strdup(path);
    if (!b->path)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_words_new(&b->words, stemmer, e);
    if (!rc && strlen(stemmer) >= EK_INDEX_STEMMER)
        rc = ek_fail(e, EK_EUSAGE, "the name of stemmer '%s' is too long", stemmer);
    if (!rc)
        rc = ek_index_writer_open(&b->out, path, e);
    if (!rc)
        rc = ek_spill_file_open(&b->runs, path, e);
    if (!rc)
        rc = ek_spill_file_open(&b->rows, path, e);
    if (!rc) {
        memcpy(b->out.footer.stemmer, stemmer, strlen(stemmer));
        rc = ek_index_writer_begin(&b->out, EK_SECTION_FORWARD, e);
    }
    return rc;
}

int ek_build_new(struct ek_build **out, const char *path, const char *stemmer,
                 uint64_t memory_bytes, struct ek_error *e)
{
    struct ek_build *b = ek_calloc(1, sizeof *b);
    if (!b)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    b->memory_bytes = memory_bytes;
    lexicon_init(&b->terms);
    lexicon_init(&b->ids);
    run_writer_init(&b->gather);
    ek_buf_init(&b->entries, SIZE_MAX);
    int rc = prepare(b, path, stemmer, e);
    if (rc) {
        ek_build_free(b);
        return rc;
    }
    *out = b;
    return EK_OK;
}

void ek_build_free(struct ek_build *b)
{
    if (!b)
        return;
    ek_index_writer_release(&b->out);
    ek_words_free(b->words);
    lexicon_release(&b->terms);
    lexicon_release(&b->ids);
    ek_run_writer_release(&b->gather);
    ek_spill_file_close(b->runs);
    ek_spill_file_close(b->rows);
    ek_buf_release(&b->entries);
    ek_free(b->entry_at);
    ek_free(b->run);
    ek_free(b->lengths.data);
    ek_free(b->tokens.data);
    ek_free(b->packed);
    ek_free(b->path);
    ek_free(b);
}

uint64_t ek_build_resident_bytes(const struct ek_build *b)
{
    return lexicon_memory(&b->terms) + lexicon_memory(&b->ids) + run_writer_table(&b->gather) +
           b->lengths.room * sizeof *b->lengths.data;
}

static int fail_here(struct ek_build *b, int rc)
{
    if (rc == EK_ELIMIT)
        return ek_fail_at(b->error, EK_ELIMIT, b->file, b->line, 0,
                          "more than 4 GiB of words or ids, or of documents, fit into no index");
    return ek_fail(b->error, EK_ENOMEM, "out of memory");
}

static int add_term(void *context, const char *term, size_t length)
{
    struct ek_build *b = context;
    uint32_t number, document = b->out.footer.documents;
    bool added;
    int rc = lexicon_add(&b->terms, term, length, &number, &added);
    if (!rc)
        rc = run_writer_add(&b->gather, number, document, b->field, (uint32_t)b->tokens.count);
    if (!rc)
        rc = ek_numbers_add(&b->tokens, number);
    return rc ? fail_here(b, rc) : EK_OK;
}

static void count_field(struct ek_build *b, int field, uint32_t tokens)
{
    b->out.footer.field[field].tokens += tokens;
    b->out.footer.field[field].documents += tokens > 0;
    if (tokens > b->out.footer.field[field].longest)
        b->out.footer.field[field].longest = tokens;
}

static int read_fields(struct ek_build *b, const struct ek_record_text *r, struct ek_index_row *row)
{
    b->tokens.count = 0;
    for (int f = 0; f < EK_FIELDS; f++) {
        size_t before = b->tokens.count;
        b->field = (enum ek_field)f;
        b->error->code = EK_OK;
        int rc = ek_words_each(b->words, r->field[f].text, r->field[f].length, add_term, b);
        if (rc)
            return b->error->code ? rc : fail_here(b, rc);
        count_field(b, f, (uint32_t)(b->tokens.count - before));
        if (f < EK_FIELDS - 1)
            row->end[f] = (uint32_t)b->tokens.count;
    }
    count_field(b, EK_FIELD_DOCUMENT, (uint32_t)b->tokens.count);
    return ek_numbers_add(&b->lengths, (uint32_t)b->tokens.count) ? fail_here(b, EK_ENOMEM) : EK_OK;
}

static int write_text(struct ek_build *b, const struct ek_text *text)
{
    uint8_t head[EK_VARINT_BYTES_MAX];
    int rc = ek_index_writer_add(&b->out, head, ek_varint_write(head, text->length), b->error);
    return rc ? rc : ek_index_writer_add(&b->out, text->text, text->length, b->error);
}

static int write_forward(struct ek_build *b, const struct ek_record_text *r)
{
    uint32_t count = (uint32_t)b->tokens.count;
    size_t room = ek_pack_max_bytes(count);
    if (room > b->packed_room) {
        uint8_t *larger = ek_realloc(b->packed, 2 * room, 1);
        if (!larger)
            return fail_here(b, EK_ENOMEM);
        b->packed = larger;
        b->packed_room = 2 * room;
    }
    int rc = write_text(b, &r->id);
    if (!rc)
        rc = write_text(b, &r->url);
    return rc ? rc
              : ek_index_writer_add(&b->out, b->packed,
                                    ek_pack_encode(EK_PACK_WIDE, b->tokens.data, count, b->packed),
                                    b->error);
}

static int add_run(struct ek_build *b)
{
    if (b->run_count == EK_RUNS_MAX)
        return ek_fail_at(b->error, EK_ELIMIT, b->file, b->line, 0,
                          "%d times the memory of %llu bytes was used up; give more by --memory",
                          EK_RUNS_MAX, (unsigned long long)b->memory_bytes);
    struct ek_run *larger = ek_grow(b->run, b->run_count, &b->run_room, sizeof *larger);
    if (!larger)
        return fail_here(b, EK_ENOMEM);
    b->run = larger;
    struct ek_run *run = b->run + b->run_count++;
    run->at = ek_spill_file_length(b->runs);
    int rc = run_writer_spill(&b->gather, b->runs, b->error);
    run->end = ek_spill_file_length(b->runs);
    return rc;
}

static int check_limit(struct ek_build *b)
{
    uint64_t kept = ek_build_resident_bytes(b);
    if (kept + run_writer_places(&b->gather) <= b->memory_bytes)
        return EK_OK;
    if (kept > b->memory_bytes / 4 * 3)
        return ek_fail_at(b->error, EK_ELIMIT, b->file, b->line, 0,
                          "words and ids alone need %llu of %llu bytes; give more by --memory",
                          (unsigned long long)kept, (unsigned long long)b->memory_bytes);
    return add_run(b);
}

int ek_build_add(struct ek_build *b, const struct ek_record_text *r, const char *name,
                 struct ek_error *e)
{
    struct ek_error own = {0};
    struct ek_index_row row = {.forward = ek_index_writer_length(&b->out)};
    uint32_t number;
    bool added;
    b->file = name;
    b->line = r->line;
    b->error = e ? e : &own;
    int rc = lexicon_add(&b->ids, r->id.text, r->id.length, &number, &added);
    if (rc)
        return fail_here(b, rc);
    if (!added)
        return ek_fail_at(e, EK_EFORMAT, name, r->line, 0, "there is a document '%.*s' already",
                          (int)r->id.length, r->id.text);
    rc = read_fields(b, r, &row);
    if (!rc)
        rc = write_forward(b, r);
    if (!rc)
        rc = ek_spill_file_add(b->rows, &row, sizeof row, b->error);
    if (!rc)
        rc = check_limit(b);
    b->out.footer.documents++;
    return rc;
}

static int copy_spool(struct ek_build *b, struct ek_spill_file *from, struct ek_error *e)
{
    uint8_t *bytes = ek_realloc(NULL, COPIED, 1);
    uint64_t at = 0, length = ek_spill_file_length(from);
    int rc = bytes ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    while (!rc && at < length) {
        size_t n = length - at < COPIED ? (size_t)(length - at) : COPIED;
        rc = ek_spill_file_read(from, at, bytes, n, e);
        if (!rc)
            rc = ek_index_writer_add(&b->out, bytes, n, e);
        at += n;
    }
    ek_free(bytes);
    return rc;
}

static int write_section(struct ek_build *b, enum ek_section section, const void *bytes,
                         size_t length, struct ek_error *e)
{
    int rc = ek_index_writer_begin(&b->out, section, e);
    if (!rc)
        rc = ek_index_writer_add(&b->out, bytes, length, e);
    ek_index_writer_end(&b->out);
    return rc;
}

static int write_slots(struct ek_build *b, struct ek_error *e)
{
    uint32_t numbers[SLOTS];
    int rc = ek_index_writer_begin(&b->out, EK_SECTION_SLOTS, e);
    for (size_t i = 0; i < b->ids.slot_count && !rc;) {
        size_t n = 0;
        while (n < SLOTS && i < b->ids.slot_count)
            numbers[n++] = b->ids.slots[i++].number;
        rc = ek_index_writer_add(&b->out, numbers, n * sizeof *numbers, e);
    }
    ek_index_writer_end(&b->out);
    return rc;
}

static int write_documents(struct ek_build *b, struct ek_error *e)
{
    int rc = write_section(b, EK_SECTION_LENGTHS, b->lengths.data,
                           b->lengths.count * sizeof *b->lengths.data, e);
    if (!rc)
        rc = ek_index_writer_begin(&b->out, EK_SECTION_ROWS, e);
    if (!rc)
        rc = copy_spool(b, b->rows, e);
    ek_index_writer_end(&b->out);
    return rc ? rc : write_slots(b, e);
}

int ek_build_finish(struct ek_build *b,
                    void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                    struct ek_error *e)
{
    struct ek_error own = {0};
    b->error = e ? e : &own;
    b->file = b->path;
    b->line = 0;
    ek_index_writer_end(&b->out);
    int rc = add_run(b);
    if (!rc)
        rc = write_documents(b, e);
    lexicon_release(&b->ids);
    if (!rc)
        rc = ek_build_merge(b, progress, context, e);
    if (!rc)
        rc = build_dictionary(b, e);
    if (!rc)
        rc = ek_index_writer_close(&b->out, e);
    b->bytes = b->out.at;
    return rc;
}

uint32_t ek_build_spills(const struct ek_build *b)
{
    return b->run_count ? b->run_count - 1 : 0;
}

uint64_t ek_build_bytes(const struct ek_build *b)
{
    return b->bytes;
}
