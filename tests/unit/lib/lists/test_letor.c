/* LETOR text: exact numbers and complete lists. Bad files: tests/bad. */
#include "base/parse.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "lists/dataset.h"
#include "lists/letor.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MANIFEST[] = "derived_query_features: [log_list_size]\n"
                               "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: nights, index: 5, role: query}\n"
                               "  - {name: stars, index: 3, role: item}\n";

static struct ek_manifest *manifest(const char *text)
{
    struct ek_manifest *m = NULL;
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, strlen(text), NULL), EK_OK);
    return m;
}

static const char *file_with(const char *text)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/ek-letor-%ld.txt", (long)getpid());
    struct ek_writer *w;
    ck_assert_int_eq(ek_writer_open(&w, path, NULL), EK_OK);
    ck_assert_int_eq(ek_writer_write(w, text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
    return path;
}

START_TEST(lists_come_out_as_they_were_written)
{
    struct ek_manifest *m = manifest(MANIFEST);
    const char *path = file_with("# a comment\n"
                                 "2 qid:ab 1:1.5 3:4 5:7 # first item \n"
                                 "\n"
                                 "0 qid:ab\t1:-2e3 5:7#docid = GX-1 inc = 1\r\n"
                                 "0.5 qid:7 3:nan 5:inf");
    struct ek_letor *l;
    struct ek_list q;
    bool more = false;
    ek_list_init(&q);
    ck_assert_int_eq(ek_letor_open(&l, m, path, NULL), EK_OK);
    ck_assert_int_eq(ek_letor_next(l, &q, &more, NULL), EK_OK);
    ck_assert(more);
    ck_assert_int_eq(q.items, 2);
    ck_assert(q.id.length == 2 && !memcmp(q.id.text, "ab", 2));
    ck_assert(q.x[0] == 1.5f && q.x[1] == 4 && q.x[2] == -2000 && q.x[3] == 0);
    ck_assert(q.query[0] == 7 && q.query[1] == logf(2));
    ck_assert(q.has_label && q.label[0] == 2 && q.label[1] == 0);
    ck_assert(isnan(q.score[0]) && q.time_ms == -1 && !q.segment_count);
    ck_assert(q.item_id[0].length == 10 && !memcmp(q.item_id[0].text, "first item", 10));
    ck_assert(q.item_id[1].length == 4 && !memcmp(q.item_id[1].text, "GX-1", 4));
    ck_assert_int_eq(ek_letor_next(l, &q, &more, NULL), EK_OK);
    ck_assert(more && q.items == 1 && q.label[0] == 0.5f);
    ck_assert(isnan(q.x[1]) && isinf(q.query[0]) && q.query[1] == 0);
    ck_assert_ptr_null(q.item_id[0].text);
    ck_assert_int_eq(ek_letor_next(l, &q, &more, NULL), EK_OK);
    ck_assert(!more);
    ck_assert_int_eq(ek_letor_next(l, &q, &more, NULL), EK_OK);
    ck_assert(!more);
    ek_letor_close(l);
    ek_list_release(&q);
    ek_manifest_free(m);
    unlink(path);
}
END_TEST

START_TEST(an_empty_file_has_no_lists)
{
    struct ek_manifest *m = manifest(MANIFEST);
    struct ek_dataset d;
    ek_dataset_init(&d, m->item_count, m->query_count);
    const char *path = file_with("\n# nothing\n");
    ck_assert_int_eq(ek_dataset_read_letor(&d, m, path, NULL), EK_OK);
    ck_assert_uint_eq(d.lists, 0);
    ek_dataset_release(&d);
    ek_manifest_free(m);
    unlink(path);
}
END_TEST

START_TEST(a_packed_file_that_is_cut_is_an_error_although_its_lists_are_whole)
{
    static const char *const endings[] = {"gz", "zst"};
    struct ek_manifest *m = manifest(MANIFEST);
    for (int k = 0; k < 2; k++) {
        char path[80];
        struct ek_writer *w;
        struct ek_dataset d;
        struct ek_error e;
        snprintf(path, sizeof path, "/tmp/ek-cut-%ld.%s", (long)getpid(), endings[k]);
        ck_assert_int_eq(ek_writer_open(&w, path, NULL), EK_OK);
        ck_assert_int_eq(ek_writer_printf(w, NULL, "1 qid:1 1:2\n0 qid:2 1:3\n"), EK_OK);
        ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
        struct stat s;
        ck_assert_int_eq(stat(path, &s), 0);
        ck_assert_int_eq(truncate(path, s.st_size - 2), 0);
        ek_dataset_init(&d, m->item_count, m->query_count);
        ck_assert_int_eq(ek_dataset_read_letor(&d, m, path, &e), EK_EFORMAT);
        ck_assert_str_eq(e.message, "the compressed file is cut short");
        ck_assert_str_eq(e.file, path);
        ek_dataset_release(&d);
        unlink(path);
    }
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_dataset_gives_back_the_lists_it_was_given)
{
    struct ek_manifest *m = manifest(MANIFEST);
    struct ek_dataset d;
    struct ek_list view, other;
    struct ek_error e;
    ek_dataset_init(&d, m->item_count, m->query_count);
    char text[40000] = "";
    size_t used = 0;
    for (int i = 0; i < 900; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d qid:%d 1:%d 3:5 5:%d\n",
                                 i % 3, i / 3, i, i / 3);
    const char *path = file_with(text);
    ck_assert_int_eq(ek_dataset_read_letor(&d, m, path, &e), EK_OK);
    ck_assert_int_eq(ek_dataset_read_letor(&d, m, path, &e), EK_OK);
    ck_assert_uint_eq(d.lists, 600);
    ck_assert_uint_eq(d.items, 1800);
    ck_assert_uint_eq(d.offset[600], 1800);
    ek_list_init(&view);
    ek_dataset_view(&d, 299, &view);
    ck_assert(view.items == 3 && view.x[0] == 897 && view.x[5] == 5 && view.query[0] == 299);
    ck_assert(view.label[2] == 2 && view.query[1] == logf(3));
    ck_assert_ptr_null(view.score);
    ck_assert_uint_eq(d.id[299], ek_hash("299", 3, 0));
    ek_list_init(&other);
    ck_assert_int_eq(ek_list_resize(&other, 1, 3, 2), EK_OK);
    ck_assert_int_eq(ek_dataset_add(&d, &other, &e), EK_ESTATE);
    ek_list_release(&other);
    ek_dataset_release(&d);
    ek_manifest_free(m);
    unlink(path);
}
END_TEST

static void check_decimal(const char *text)
{
    double fast = -1, exact = strtod(text, NULL);
    const char *end = ek_decimal(text, &fast);
    ck_assert_msg(end == text + strlen(text), "'%s' was not read to its end", text);
    ck_assert_msg(!memcmp(&fast, &exact, sizeof fast), "'%s': %.17g, strtod says %.17g", text, fast,
                  exact);
}

START_TEST(decimals_are_those_of_strtod)
{
    static const char *const hard[] = {"0",
                                       "-0",
                                       "0.0",
                                       "+1",
                                       ".5",
                                       "5.",
                                       "1e22",
                                       "1e23",
                                       "9007199254740993",
                                       "1e-400",
                                       "1e400",
                                       "-1e99999",
                                       "4.9e-324",
                                       "0.1",
                                       "123456789012345678901234567890",
                                       "0.000000000000000000000000000000000000000123456",
                                       "00000000000000000000000000000000001.5",
                                       "2.2250738585072011e-308",
                                       "1E+5",
                                       "inf",
                                       "-inf"};
    char text[64];
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        check_decimal(hard[i]);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = ek_rng_u64(&r);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, "%.*g", 1 + (int)ek_rng_uniform_int(&r, 19), value);
        check_decimal(text);
        snprintf(text, sizeof text, "%.*f", (int)ek_rng_uniform_int(&r, 12),
                 ek_rng_normal(&r) * 1e4);
        check_decimal(text);
    }
}
END_TEST

START_TEST(what_is_no_decimal_is_refused)
{
    static const char *const bad[] = {"",    "-",    ".",   "e5",   "1e",   "1e+",  "1.5.2",
                                      "--1", "0x1",  "1-2", "12a",  "NaN",  "nano", "infx",
                                      " 1",  "+inf", "1d5", "1e5e", "1e5.", "INF"};
    double d = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!ek_decimal(bad[i], &d), "'%s' was read as %g", bad[i], d);
    ck_assert(d == 7);
    ck_assert_str_eq(ek_decimal("12:3", &d), ":3");
    ck_assert(d == 12);
}
END_TEST

START_TEST(the_published_sets_have_the_lists_they_say)
{
    static const struct {
        const char *set, *file;
        size_t lists, items;
    } sets[] = {{"hotel", "train.txt.zst", 6000, 120498},
                {"swissmetro", "test.txt.zst", 3222, 9054},
                {"car", "vali.txt.zst", 465, 2790},
                {"mq2008", "S5.txt.zst", 156, 2874}};
    const char *data = getenv("EK_DATA");
    if (!data) {
        fputs("skipped without EK_DATA: the_published_sets_have_the_lists_they_say\n", stderr);
        return;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[500];
        struct ek_manifest *m = NULL;
        struct ek_dataset d;
        struct ek_error e;
        snprintf(path, sizeof path, "%s/%s/features.yaml", data, sets[i].set);
        ck_assert_int_eq(ek_manifest_load(&m, path, &e), EK_OK);
        ek_dataset_init(&d, m->item_count, m->query_count);
        snprintf(path, sizeof path, "%s/%s/%s", data, sets[i].set, sets[i].file);
        ck_assert_msg(!ek_dataset_read_letor(&d, m, path, &e), "%s:%ld: %s", path, e.line,
                      e.message);
        ck_assert_uint_eq(d.lists, sets[i].lists);
        ck_assert_uint_eq(d.items, sets[i].items);
        ek_dataset_release(&d);
        ek_manifest_free(m);
    }
}
END_TEST

START_TEST(unused_columns_are_passed_over_and_others_are_not)
{
    struct ek_manifest *m = manifest("unused: [2, 9]\n"
                                     "features:\n"
                                     "  - {name: price, index: 1, role: item}\n"
                                     "  - {name: stars, index: 3, role: item}\n");
    struct ek_dataset d;
    struct ek_error e;
    ek_dataset_init(&d, 2, 0);
    ck_assert_int_eq(
        ek_dataset_read_letor(&d, m, file_with("1 qid:1 1:5 2:6 3:7 9:8\n0 qid:1 2:6\n"), &e),
        EK_OK);
    ck_assert(d.items == 2 && d.x[0] == 5 && d.x[1] == 7 && d.x[2] == 0 && d.x[3] == 0);
    ck_assert_int_eq(ek_dataset_read_letor(&d, m, file_with("1 qid:1 4:6\n"), &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "index 4 is not in the manifest");
    ck_assert_int_eq(ek_dataset_read_letor(&d, m, file_with("1 qid:1 10:6\n"), &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "index 10 is not in the manifest, whose highest is 9");
    ck_assert_int_eq(ek_dataset_read_letor(&d, m, file_with("1 qid:1 2:x\n"), &e), EK_EFORMAT);
    ek_dataset_release(&d);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_letor(void)
{
    return ek_suite("letor", lists_come_out_as_they_were_written, an_empty_file_has_no_lists,
                    a_packed_file_that_is_cut_is_an_error_although_its_lists_are_whole,
                    a_dataset_gives_back_the_lists_it_was_given, decimals_are_those_of_strtod,
                    what_is_no_decimal_is_refused,
                    unused_columns_are_passed_over_and_others_are_not,
                    the_published_sets_have_the_lists_they_say);
}
