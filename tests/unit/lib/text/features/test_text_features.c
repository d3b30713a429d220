/* Facade of all feature families, on a small index. tests/cli/extract-features.sh checks every
 * value with an independent implementation. */
#include "deploy/text_features_page.h"
#include "tests/texts.h"
#include "text/features/features.h"
#include "text/features/stop_words.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { DOCUMENTS = 40 };

struct scene {
    char path[32];
    struct ek_index *x;
    struct ek_feature_choice *c;
    struct ek_text_features *f;
    float *row;
};

static void begin(struct scene *s, const char *yaml)
{
    static struct ek_texts t;
    snprintf(s->path, sizeof s->path, "/tmp/ek-features-XXXXXX");
    int fd = mkstemp(s->path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ek_texts_make(&t, DOCUMENTS, 3);
    ek_texts_index(&t, s->path, EK_BUILD_MEMORY);
    ck_assert_int_eq(ek_index_open(&s->x, s->path, NULL), EK_OK);
    ck_assert_int_eq(ek_feature_choice_parse(&s->c, "f", yaml, strlen(yaml), NULL), EK_OK);
    ck_assert_int_eq(ek_text_features_new(&s->f, s->x, s->c, NULL), EK_OK);
    s->row = calloc(s->c->count, sizeof *s->row);
}

static void end(struct scene *s)
{
    free(s->row);
    ek_text_features_free(s->f);
    ek_feature_choice_free(s->c);
    ek_index_close(s->x);
    unlink(s->path);
}

static void ask(struct scene *s, const char *query, uint32_t document)
{
    ck_assert_int_eq(ek_text_features_query(s->f, query, strlen(query), NULL), EK_OK);
    ck_assert_int_eq(ek_text_features_document(s->f, document, NAN, s->row, NULL), EK_OK);
}

static float value(const struct scene *s, const char *name)
{
    for (size_t i = 0; i < s->c->count; i++)
        if (!strcmp(s->c->feature[i]->name, name))
            return s->row[i];
    ck_abort_msg("no feature %s", name);
}

START_TEST(what_never_is_missing_never_is)
{
    static const char *const queries[] = {"w0 w1 w2", "w0 w0 w0", "", "nobody", "W3 nobody w3 w4"};
    struct scene s;
    begin(&s, "features: [all]");
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
        for (uint32_t d = 0; d < DOCUMENTS; d++) {
            ask(&s, queries[q], d);
            for (size_t i = 0; i < s.c->count; i++) {
                ck_assert(!isinf(s.row[i]));
                ck_assert_msg(s.c->feature[i]->missing || !isnan(s.row[i]), "%s",
                              s.c->feature[i]->name);
            }
        }
    end(&s);
}
END_TEST

START_TEST(features_of_a_query_are_the_same_for_all_documents)
{
    struct scene s;
    begin(&s, "features: [query, idf, terms, pairs]");
    float *first = calloc(s.c->count, sizeof *first);
    ask(&s, "w0 w1 w5", 1);
    memcpy(first, s.row, s.c->count * sizeof *first);
    for (uint32_t d = 2; d < DOCUMENTS; d++) {
        ck_assert_int_eq(ek_text_features_document(s.f, d, NAN, s.row, NULL), EK_OK);
        ck_assert_int_eq(memcmp(first, s.row, s.c->count * sizeof *first), 0);
    }
    free(first);
    end(&s);
}
END_TEST

START_TEST(a_choice_has_the_values_that_all_have)
{
    struct scene all, some;
    begin(&all, "features: [all]");
    begin(&some, "features: [sdm.document, 'tp_*', terms_known, pairs_prob_max_mean, url_length]");
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        ask(&all, "w1 w0 w2 w1", d);
        ask(&some, "w1 w0 w2 w1", d);
        for (size_t i = 0; i < some.c->count; i++) {
            float a = value(&all, some.c->feature[i]->name), b = some.row[i];
            ck_assert_msg((isnan(a) && isnan(b)) || a == b, "%s", some.c->feature[i]->name);
        }
    }
    end(&all);
    end(&some);
}
END_TEST

START_TEST(what_was_asked_before_does_not_matter)
{
    struct scene used, fresh;
    begin(&used, "features: [all]");
    ask(&used, "w9 w8 w7 w6 nobody", 5);
    ask(&used, "", 6);
    ask(&used, "w0 w1", 7);
    begin(&fresh, "features: [all]");
    ask(&fresh, "w0 w1", 7);
    ck_assert_int_eq(memcmp(used.row, fresh.row, used.c->count * sizeof *used.row), 0);
    end(&used);
    end(&fresh);
}
END_TEST

START_TEST(a_query_of_too_many_terms_is_refused_and_the_next_one_taken)
{
    char query[1100] = "";
    struct ek_error e;
    struct scene s;
    begin(&s, "features: [query_length]");
    for (int i = 0; i < 257; i++)
        memcpy(query + 3 * i, "w1 ", 3);
    ck_assert_int_eq(ek_text_features_query(s.f, query, strlen(query), &e), EK_ELIMIT);
    ck_assert_str_eq(e.message, "a query has at most 256 terms");
    ask(&s, "w1 w2 w1", 3);
    ck_assert_float_eq(value(&s, "query_length"), 3);
    ck_assert_int_eq(ek_text_features_query(s.f, query, strlen(query) - 3, &e), EK_OK);
    end(&s);
}
END_TEST

START_TEST(stop_words_are_known_by_their_letters)
{
    struct scene s;
    begin(&s, "features: [query_length_content, stop_cover, stop_ratio]");
    ask(&s, "who w1 should w2 of nobody", 3); /* of these the index has w1 and w2 */
    ck_assert_float_eq(value(&s, "query_length_content"), 3);
    ck_assert_float_eq(value(&s, "stop_cover"), 0);
    end(&s);
}
END_TEST

START_TEST(stop_words_are_stemmed_as_texts_are)
{
    struct ek_words *w;
    struct ek_stop_words none, english;
    size_t length;
    ck_assert_int_eq(ek_words_new(&w, "none", NULL), EK_OK);
    ck_assert_int_eq(ek_stop_words_read(&none, w), EK_OK);
    ek_words_free(w);
    ck_assert_int_eq(ek_words_new(&w, "english", NULL), EK_OK);
    ck_assert_int_eq(ek_stop_words_read(&english, w), EK_OK);
    ek_words_free(w);
    ck_assert_uint_eq(none.count, 84);
    ck_assert(ek_stop_words_has(&none, "does", 4) && !ek_stop_words_has(&none, "doe", 3));
    ck_assert(ek_stop_words_has(&english, "doe", 3) && !ek_stop_words_has(&english, "does", 4));
    ck_assert_uint_lt(english.count, 84); /* "on" and "one", ... */
    ck_assert(!memcmp(ek_stop_words_text(&none, 0, &length), "a", 1) && length == 1);
    ek_stop_words_release(&none);
    ek_stop_words_release(&english);
}
END_TEST

START_TEST(the_score_of_the_run_comes_through)
{
    struct scene s;
    size_t length;
    begin(&s, "features: [stage0]");
    ask(&s, "w1", 3);
    ck_assert(isnan(s.row[0]));
    ck_assert_int_eq(ek_text_features_document(s.f, 4, 2.5, s.row, NULL), EK_OK);
    ck_assert_float_eq(s.row[0], 2.5f);
    const char *id = ek_text_features_id(s.f, &length);
    ck_assert(length == 5 && !memcmp(id, "doc-4", 5));
    end(&s);
}
END_TEST

START_TEST(the_page_of_text_features_is_up_to_date)
{
    struct ek_buf made, kept;
    ek_buf_init(&made, 0);
    ek_buf_init(&kept, 0);
    ck_assert_int_eq(ek_feature_docs_write(&made), EK_OK);
    ck_assert_int_eq(ek_file_read("docs/text-features.md", &kept, NULL), EK_OK);
    ck_assert_msg(made.length == kept.length && !memcmp(made.data, kept.data, made.length),
                  "stale: make reference");
    ek_buf_release(&made);
    ek_buf_release(&kept);
}
END_TEST

Suite *suite_text_features(void)
{
    return ek_suite("text_features", what_never_is_missing_never_is,
                    features_of_a_query_are_the_same_for_all_documents,
                    a_choice_has_the_values_that_all_have, what_was_asked_before_does_not_matter,
                    a_query_of_too_many_terms_is_refused_and_the_next_one_taken,
                    stop_words_are_known_by_their_letters, stop_words_are_stemmed_as_texts_are,
                    the_score_of_the_run_comes_through, the_page_of_text_features_is_up_to_date);
}
