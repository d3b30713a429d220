#include "text/index/build.h"

#include "base/alloc.h"
#include "text/index/build_internal.h"
#include "text/index/packed.h"
#include "text/index/varint.h"
#include "text/index/words.h"

#include <string.h>

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
    ek_lexicon_init(&b->terms);
    ek_lexicon_init(&b->ids);
    ek_run_writer_init(&b->gather);
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
    ek_lexicon_release(&b->terms);
    ek_lexicon_release(&b->ids);
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
    return ek_lexicon_memory(&b->terms) + ek_lexicon_memory(&b->ids) +
           ek_run_writer_table(&b->gather) + b->lengths.room * sizeof *b->lengths.data;
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
    int rc = ek_lexicon_add(&b->terms, term, length, &number, &added);
    if (!rc)
        rc = ek_run_writer_add(&b->gather, number, document, b->field, (uint32_t)b->tokens.count);
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
    int rc = ek_run_writer_spill(&b->gather, b->runs, b->error);
    run->end = ek_spill_file_length(b->runs);
    return rc;
}

static int check_limit(struct ek_build *b)
{
    uint64_t kept = ek_build_resident_bytes(b);
    if (kept + ek_run_writer_places(&b->gather) <= b->memory_bytes)
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
    int rc = ek_lexicon_add(&b->ids, r->id.text, r->id.length, &number, &added);
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
    ek_lexicon_release(&b->ids);
    if (!rc)
        rc = ek_build_merge(b, progress, context, e);
    if (!rc)
        rc = ek_build_dictionary(b, e);
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
