/* Document features: URLs, words, parts. */
#include "tests/check.h"
#include "text/features/document_features.h"

#include <math.h>
#include <string.h>

static void url_is(const char *url, double length, double slashes, double depth, double digits,
                   double parameters)
{
    double out[EK_URLS];
    ek_document_features_url(url, strlen(url), out);
    ck_assert_double_eq(out[EK_URL_LENGTH], length);
    ck_assert_double_eq(out[EK_URL_SLASHES], slashes);
    ck_assert_double_eq(out[EK_URL_DEPTH], depth);
    ck_assert_double_eq(out[EK_URL_DIGITS], digits);
    ck_assert_double_eq(out[EK_URL_PARAMETERS], parameters);
}

START_TEST(an_address_is_taken_apart)
{
    url_is("https://a.org", 5, 2, 0, 0, 0);
    url_is("https://a.org/", 6, 3, 0, 0, 0);
    url_is("https://a.org/b/c/", 10, 5, 2, 0, 0);
    url_is("https://a.org//b", 8, 4, 1, 0, 0);
    url_is("a.org/b?x=1&y=22#z", 18, 1, 1, 3, 2);
    url_is("a.org/b?", 8, 1, 1, 0, 0);
    url_is("a.org/?u=/x/y", 13, 3, 0, 0, 1);
    url_is("a.org/b?#f&g", 12, 1, 1, 0, 0);
}
END_TEST

START_TEST(without_an_address_there_is_nothing_to_say)
{
    double out[EK_URLS];
    ek_document_features_url(NULL, 0, out);
    for (int k = 0; k < EK_URLS; k++)
        ck_assert(isnan(out[k]));
}
END_TEST

static uint32_t letters(void *context, uint32_t term)
{
    (void)context;
    return term; /* term 3 has three letters */
}

START_TEST(words_are_counted)
{
    const uint32_t stop[] = {1, 5}, terms[] = {3, 1, 3, 4, 1, 3, 7, 3};
    const uint32_t length[EK_FIELDS] = {2, 6, 0, 0, 0};
    struct ek_document_terms w = {stop, 2, 4, letters, NULL};
    uint32_t scratch[8];
    double out[EK_DOCUMENT_FEATURES];
    ek_document_features_terms(&w, terms, 8, length, scratch, out);
    ck_assert_double_eq(out[EK_UNIQUE_TERMS], 4);
    ck_assert_double_eq(out[EK_UNIQUE_SHARE], 0.5);
    ck_assert_double_eq(out[EK_TERM_LETTERS], 25. / 8);
    /* fractions 1/2, 1/4, 1/8, 1/8 */
    ck_assert_double_eq_tol(out[EK_ENTROPY], 1.75 * log(2), 1e-12);
    ck_assert_double_eq(out[EK_STOP_COVER], 0.25);
    ck_assert_double_eq_tol(out[EK_STOP_RATIO], 2. / 6, 1e-15);
    ck_assert_double_eq(out[EK_SHARE_OF_FIELD + EK_FIELD_TITLE], 0.25);
    ck_assert_double_eq(out[EK_SHARE_OF_FIELD + EK_FIELD_BODY], 0.75);
    ck_assert_double_eq(out[EK_SHARE_OF_FIELD + EK_FIELD_ANCHOR], 0);
}
END_TEST

START_TEST(a_document_without_words_has_no_values_of_words)
{
    const uint32_t length[EK_FIELDS] = {0};
    struct ek_document_terms w = {NULL, 0, 4, letters, NULL};
    double out[EK_DOCUMENT_FEATURES];
    ek_document_features_terms(&w, NULL, 0, length, NULL, out);
    for (int k = EK_UNIQUE_TERMS; k < EK_DOCUMENT_FEATURES; k++)
        ck_assert(isnan(out[k]));
}
END_TEST

START_TEST(stop_words_are_in_order_and_there_once)
{
    const char *before = ek_stop_word(0), *word;
    size_t i = 1;
    for (; (word = ek_stop_word(i)); i++, before = word)
        ck_assert_int_lt(strcmp(before, word), 0);
    ck_assert_uint_eq(i, 84);
}
END_TEST

Suite *suite_document_features(void)
{
    return ek_suite("static", an_address_is_taken_apart, without_an_address_there_is_nothing_to_say,
                    words_are_counted, a_document_without_words_has_no_values_of_words,
                    stop_words_are_in_order_and_there_once);
}
