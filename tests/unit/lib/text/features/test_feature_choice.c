/* Catalog of text features, and the selection file. */
#include "tests/check.h"
#include "text/features/feature_choice.h"

#include <stdio.h>
#include <string.h>

static struct ek_feature_choice *choice(const char *yaml)
{
    struct ek_feature_choice *c = NULL;
    struct ek_error e;
    ck_assert_msg(!ek_feature_choice_parse(&c, "f.yaml", yaml, strlen(yaml), &e), "%s", e.message);
    return c;
}

START_TEST(the_core_has_as_many_features_as_the_paper)
{
    struct ek_feature_list *l;
    size_t core = 0;
    ck_assert_int_eq(ek_feature_list_new(&l, NULL), EK_OK);
    for (size_t i = 0; i < l->count; i++)
        core += l->features[i].core;
    ck_assert_uint_eq(core, EK_CORE_FEATURES);
    ck_assert_uint_eq(l->count, 592);
    ek_feature_list_free(l);
}
END_TEST

START_TEST(every_feature_has_a_name_of_its_own_and_a_formula)
{
    struct ek_feature_list *l;
    ck_assert_int_eq(ek_feature_list_new(&l, NULL), EK_OK);
    for (size_t i = 0; i < l->count; i++) {
        const struct ek_text_feature *f = &l->features[i];
        ck_assert_ptr_eq(ek_feature_list_find(l, f->name), f);
        ck_assert_uint_lt(strlen(f->name), EK_TEXT_NAME_BYTES - 1);
        ck_assert_uint_gt(strlen(f->formula), 2);
        ck_assert_uint_lt(strlen(f->formula), EK_TEXT_FORMULA_BYTES - 1);
        ck_assert(!strpbrk(f->name, " ,=\n"));
    }
    ck_assert_ptr_null(ek_feature_list_find(l, "bm25"));
    ek_feature_list_free(l);
}
END_TEST

START_TEST(globs_and_families_choose_in_the_order_of_the_catalogue)
{
    struct ek_feature_choice *c =
        choice("features: [url_slashes, 'bm25_atire.*', 'stream_tf_s?m.title', bm25_atire.body]\n"
               "except: ['*.anchor']\n");
    static const char *const want[] = {
        "bm25_atire.document", "bm25_atire.title",    "bm25_atire.body", "bm25_atire.heading",
        "bm25_atire.inlink",   "stream_tf_sum.title", "url_slashes"};
    ck_assert_uint_eq(c->count, sizeof want / sizeof *want);
    for (size_t i = 0; i < c->count; i++)
        ck_assert_str_eq(c->feature[i]->name, want[i]);
    ck_assert(c->needs[EK_FAMILY_UNIGRAM] && !c->needs[EK_FAMILY_TERMS]);
    ek_feature_choice_free(c);
    c = choice("features: [query]");
    ck_assert_uint_eq(c->count, 31);
    ek_feature_choice_free(c);
}
END_TEST

START_TEST(stars_match_any_bytes)
{
    static const struct {
        const char *pattern;
        size_t count;
    } want[] = {{"*", 592},          {"all", 592},        {"core", 435},
                {"lmds_*.title", 3}, {"*.title.*", 0},    {"*_max", 0},
                {"url_*", 5},        {"*bm25*_w100*", 1}, {"lmds_?000.body", 1},
                {"u*l*s*e*s", 1},    {"url_slashes**", 1}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct ek_feature_choice *c = NULL;
        char yaml[80];
        snprintf(yaml, sizeof yaml, "features: ['%s']", want[i].pattern);
        int rc = ek_feature_choice_parse(&c, "f", yaml, strlen(yaml), NULL);
        if (!strcmp(want[i].pattern, "*_max"))
            ck_assert_uint_gt(c->count, 20);
        else if (want[i].count)
            ck_assert_msg(!rc && c->count == want[i].count, "%s", want[i].pattern);
        else
            ck_assert_int_eq(rc, EK_ECONFIG);
        ek_feature_choice_free(c);
    }
}
END_TEST

START_TEST(what_is_not_said_is_the_core_and_its_defaults)
{
    struct ek_feature_choice *c, *d;
    ck_assert_int_eq(ek_feature_choice_default(&c, NULL), EK_OK);
    d = choice("parameters: {bm25_trec3: {k1: 1.5}, dfr: {c: 2}, sdm: {mu: 10, terms: 0.5}}");
    ck_assert_uint_eq(c->count, EK_CORE_FEATURES);
    ck_assert_uint_eq(d->count, EK_CORE_FEATURES);
    ck_assert_double_eq(c->unigram.bm25[EK_BM25_TREC3].k1, 1.2);
    ck_assert_double_eq(d->unigram.bm25[EK_BM25_TREC3].k1, 1.5);
    ck_assert_double_eq(d->unigram.bm25[EK_BM25_TREC3].b, 0.75);
    ck_assert_double_eq(d->unigram.bm25[EK_BM25_TREC3_KMAX].k1, 2);
    ck_assert_double_eq(d->unigram.c, 2);
    ck_assert_double_eq(d->sdm.mu, 10);
    ck_assert_double_eq(d->sdm.terms, 0.5);
    ek_feature_choice_free(c);
    ek_feature_choice_free(d);
}
END_TEST

START_TEST(every_fault_has_its_place)
{
    static const char *const bad[][2] = {
        {"features: [bm25_atier.title]",
         "f:1:12: no feature is named 'bm25_atier.title', did you mean 'bm25_atire.title'?"},
        {"features: ['zz*']", "f:1:12: no feature fits 'zz*' (evenkeel extract --list has them)"},
        {"features: [strem]", "f:1:12: no feature is named 'strem', did you mean 'stream'?"},
        {"feature: [all]", "f:1:1: unknown key 'feature', did you mean 'features'?"},
        {"features: all", "f:1:11: 'features' must be a list, not 'all'"},
        {"features: [url_slashes]\nexcept: [static]", "f:1:1: no feature is left"},
        {"parameters: {bm25_atire: {k: 1}}",
         "f:1:27: 'bm25_atire' has no parameter 'k', did you mean 'k1'?"},
        {"parameters: {bm25_atier: {k1: 1}}",
         "f:1:14: unknown key 'bm25_atier', did you mean 'bm25_atire'?"},
        {"parameters: {bm25_atire: {b: 2}}", "f:1:30: 'b' must be from 0 to 1, not 2"},
        {"version: 2", "f:1:10: 'version' must be 1, not 2"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_feature_choice *c = NULL;
        struct ek_error e;
        char said[500];
        int rc = ek_feature_choice_parse(&c, "f", bad[i][0], strlen(bad[i][0]), &e);
        ck_assert_msg(rc == EK_ECONFIG, "%s", bad[i][0]);
        ck_assert_str_eq(ek_error_text(&e, said, sizeof said), bad[i][1]);
    }
}
END_TEST

Suite *suite_feature_choice(void)
{
    return ek_suite("feature_choice", the_core_has_as_many_features_as_the_paper,
                    every_feature_has_a_name_of_its_own_and_a_formula,
                    globs_and_families_choose_in_the_order_of_the_catalogue, stars_match_any_bytes,
                    what_is_not_said_is_the_core_and_its_defaults, every_fault_has_its_place);
}
