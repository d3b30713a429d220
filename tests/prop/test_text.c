/* Any bytes are parsed, or rejected with a message and a position. A parser that continues after
 * errors decides like one that stops. Seeds are the bad files and the examples of the documents,
 * mutated further. Most useful with `make SANITIZE=address,undefined check-prop`. */
#include "base/file.h"
#include "base/rng.h"
#include "lists/dataset.h"
#include "rules/rules.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS = 300, SEED_BYTES = 3000, ROOM = 64, ROUNDS = 8000, SLOW_ROUNDS = 2000, NAME = 400 };

struct seeds {
    struct ek_buf text[SEEDS];
    int count;
};

static void add_seed(struct seeds *s, const char *path)
{
    struct ek_buf *text = &s->text[s->count];
    if (s->count == SEEDS)
        return;
    ek_buf_init(text, SEED_BYTES);
    if (ek_file_read(path, text, NULL))
        ek_buf_release(text); /* longer than a seed may be */
    else
        s->count++;
}

static void load_seeds(struct seeds *s, const char *folder)
{
    char path[NAME];
    DIR *d = opendir(folder);
    ck_assert_msg(d != NULL, "no folder '%s'", folder);
    s->count = 0;
    for (struct dirent *entry; (entry = readdir(d));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        add_seed(s, path);
    }
    closedir(d);
    ck_assert_int_gt(s->count, 0);
}

static void release_seeds(struct seeds *s)
{
    for (int i = 0; i < s->count; i++)
        ek_buf_release(&s->text[i]);
}

static void break_once(struct ek_rng *r, char *text, size_t *length)
{
    static const char signs[] = "{}[],:#&*!|>'\"%@`-? \n\t0";
    size_t at = *length ? ek_rng_uniform_int(r, *length) : 0, left = *length - at;
    size_t part = ek_rng_uniform_int(r, (left < ROOM / 4 ? left : ROOM / 4) + 1);
    switch (left ? ek_rng_uniform_int(r, 5) : 5) {
    case 0:
        text[at] = (char)ek_rng_uniform_int(r, 256);
        break;
    case 1:
        text[at] = signs[ek_rng_uniform_int(r, sizeof signs - 1)];
        break;
    case 2: /* removed */
        memmove(text + at, text + at + part, left - part);
        *length -= part;
        break;
    case 3: /* doubled */
        memmove(text + at + part, text + at, left);
        *length += part;
        break;
    case 4:
        *length = at;
        break;
    default:
        break;
    }
}

/* Return the size of a seed with up to three mutations. */
static size_t broken(struct ek_rng *r, const struct seeds *s, char *text)
{
    const struct ek_buf *seed = &s->text[ek_rng_uniform_int(r, (uint64_t)s->count)];
    size_t length = seed->length;
    if (length)
        memcpy(text, seed->data, length);
    for (uint64_t i = ek_rng_uniform_int(r, 4); i > 0; i--)
        break_once(r, text, &length);
    return length;
}

static void check_refusal(int rc, const struct ek_error *e)
{
    if (!rc)
        return;
    ck_assert(e->message[0] && e->line > 0);
    ck_assert(rc == EK_ECONFIG || rc == EK_EFORMAT);
}

START_TEST(any_manifest_is_read_or_refused_in_words)
{
    struct seeds s;
    struct ek_rng r;
    char text[SEED_BYTES + ROOM];
    ek_rng_seed(&r, 11);
    load_seeds(&s, "tests/bad/manifest");
    add_seed(&s, "tests/bad/features.yaml");
    for (int i = 0; i < ROUNDS; i++) {
        size_t length = broken(&r, &s, text);
        struct ek_manifest *m = NULL, *again = NULL;
        struct ek_error_list faults;
        struct ek_error e, first;
        ek_error_list_init(&faults);
        int rc = ek_manifest_parse(&m, "m", text, length, &e);
        check_refusal(rc, &e);
        ck_assert_int_eq(ek_manifest_parse_all(&again, "m", text, length, &faults, &first), rc);
        ck_assert(!faults.count || rc);
        ek_manifest_free(m);
        ek_manifest_free(again);
        ek_error_list_release(&faults);
    }
    release_seeds(&s);
}
END_TEST

START_TEST(any_rules_are_read_or_refused_in_words)
{
    struct seeds s;
    struct ek_rng r;
    struct ek_manifest *m = NULL;
    char text[SEED_BYTES + ROOM];
    ek_rng_seed(&r, 12);
    load_seeds(&s, "tests/bad/rules");
    ck_assert_int_eq(ek_manifest_load(&m, "tests/bad/features.yaml", NULL), EK_OK);
    for (int i = 0; i < ROUNDS; i++) {
        size_t length = broken(&r, &s, text);
        const struct ek_manifest *held = i % 2 ? m : NULL;
        struct ek_rules *rules = NULL, *again = NULL;
        struct ek_error_list faults;
        struct ek_error e, first;
        ek_error_list_init(&faults);
        int rc = ek_rules_parse(&rules, held, "r", text, length, &e);
        check_refusal(rc, &e);
        ck_assert_int_eq(ek_rules_parse_all(&again, held, "r", text, length, &faults, &first), rc);
        ck_assert(!faults.count || rc);
        ek_rules_free(rules);
        ek_rules_free(again);
        ek_error_list_release(&faults);
    }
    release_seeds(&s);
    ek_manifest_free(m);
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, length, f), length);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(any_lists_are_read_or_refused_in_words)
{
    struct seeds s;
    struct ek_rng r;
    struct ek_manifest *m = NULL;
    char text[SEED_BYTES + ROOM], path[64];
    snprintf(path, sizeof path, "/tmp/ek-lists-%ld", (long)getpid());
    ek_rng_seed(&r, 13);
    load_seeds(&s, "tests/bad/letor");
    ck_assert_int_eq(ek_manifest_load(&m, "tests/bad/features.yaml", NULL), EK_OK);
    for (int i = 0; i < SLOW_ROUNDS; i++) {
        struct ek_dataset d;
        struct ek_error e;
        write_file(path, text, broken(&r, &s, text));
        ek_dataset_init(&d, m->item_count, m->query_count);
        check_refusal(ek_dataset_read_letor(&d, m, path, &e), &e);
        ek_dataset_release(&d);
    }
    unlink(path);
    release_seeds(&s);
    ek_manifest_free(m);
}
END_TEST

static void pack(const char *ending, struct ek_buf *out)
{
    char path[64];
    struct ek_writer *w;
    snprintf(path, sizeof path, "/tmp/ek-pack-%ld%s", (long)getpid(), ending);
    ck_assert_int_eq(ek_writer_open(&w, path, NULL), EK_OK);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(ek_writer_printf(w, NULL, "%d qid:%d 1:%d\n", i % 3, i / 7, i * i), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
    FILE *f = fopen(path, "rb");
    char block[SEED_BYTES];
    ck_assert_int_eq(ek_buf_add(out, block, fread(block, 1, sizeof block, f)), EK_OK);
    fclose(f);
    unlink(path);
}

START_TEST(any_packed_bytes_unpack_or_are_refused)
{
    static const char *const endings[] = {".gz", ".zst"};
    struct ek_rng r;
    struct seeds s = {.count = 1};
    char text[SEED_BYTES + ROOM];
    ek_rng_seed(&r, 14);
    for (int k = 0; k < 2; k++) {
        ek_buf_init(&s.text[0], SEED_BYTES);
        pack(endings[k], &s.text[0]);
        for (int i = 0; i < SLOW_ROUNDS; i++) {
            struct ek_buf out;
            struct ek_reader *reader;
            ek_buf_init(&out, 1 << 16);
            size_t length = broken(&r, &s, text);
            ck_assert_int_eq(ek_reader_memory(&reader, "p", text, length, NULL), EK_OK);
            int rc = ek_reader_rest(reader, &out, NULL);
            ck_assert(rc == EK_OK || rc == EK_EFORMAT || rc == EK_ELIMIT);
            ek_reader_close(reader);
            ek_buf_release(&out);
        }
        release_seeds(&s);
    }
}
END_TEST

Suite *suite_text(void)
{
    return ek_suite("text", any_manifest_is_read_or_refused_in_words,
                    any_rules_are_read_or_refused_in_words, any_lists_are_read_or_refused_in_words,
                    any_packed_bytes_unpack_or_are_refused);
}
