/* Tokenization: folding, word boundaries, optional stemming. */
#include "tests/check.h"
#include "text/index/words.h"

#include <stdio.h>
#include <string.h>

static char told[4096];

static int tell(void *context, const char *term, size_t length)
{
    size_t n = strlen(told);
    (void)context;
    snprintf(told + n, sizeof told - n, "%s%.*s", n ? "|" : "", (int)length, term);
    return EK_OK;
}

static const char *words_by(const char *stemmer, const char *text, size_t length)
{
    struct ek_words *w;
    told[0] = 0;
    ck_assert_int_eq(ek_words_new(&w, stemmer, NULL), EK_OK);
    ck_assert_int_eq(ek_words_each(w, text, length, tell, NULL), EK_OK);
    ek_words_free(w);
    return told;
}

static const char *words(const char *text)
{
    return words_by("none", text, strlen(text));
}

START_TEST(words_are_runs_of_letters_and_digits_in_small_letters)
{
    ck_assert_str_eq(words("The QUICK brown-fox, 42x (a.b)!"), "the|quick|brown|fox|42x|a|b");
    ck_assert_str_eq(words(""), "");
    ck_assert_str_eq(words(" .,-\n\t"), "");
    ck_assert_str_eq(words("one"), "one");
    ck_assert_str_eq(words("don't"), "don|t");
}
END_TEST

START_TEST(accents_and_compatible_forms_are_folded)
{
    ck_assert_str_eq(words("N\xc3\xa4ive NA\xc3\x8fVE"), "n\xc3\xa4ive|na\xc3\xafve");
    /* e and a combining acute are the letter with an acute, one word before and after it. */
    ck_assert_str_eq(words("cafe\xcc\x81s"), "caf\xc3\xa9s");
    ck_assert_str_eq(words("\xef\xac\x81sh"), "fish");         /* ligature fi */
    ck_assert_str_eq(words("\xef\xbc\xa1\xef\xbc\xa2"), "ab"); /* wide letters */
    ck_assert_str_eq(words("Stra\xc3\x9f"
                           "e"),
                     "strasse");
    ck_assert_str_eq(words("x\xc2\xb2"), "x2");                /* superscript */
    ck_assert_str_eq(words("\xc2\xbd"), "1|2");                /* a half */
    ck_assert_str_eq(words("brand\xe2\x84\xa2 x"), "brand|x"); /* a sign is no letter */
}
END_TEST

START_TEST(greek_folds_its_final_sigma)
{
    ck_assert_str_eq(words("\xce\x9f\xce\x94\xce\x9f\xce\xa3 \xce\xbf\xce\xb4\xce\xbf\xcf\x82"),
                     "\xce\xbf\xce\xb4\xce\xbf\xcf\x83|\xce\xbf\xce\xb4\xce\xbf\xcf\x83");
}
END_TEST

START_TEST(ideographs_and_hiragana_are_words_each_katakana_runs)
{
    ck_assert_str_eq(words("\xe6\xbc\xa2\xe5\xad\x97\xe3\x81\x8b\xe3\x81\xaa"
                           "abc\xe6\xbc\xa2"),
                     "\xe6\xbc\xa2|\xe5\xad\x97|\xe3\x81\x8b|\xe3\x81\xaa|abc|\xe6\xbc\xa2");
    ck_assert_str_eq(words("\xe3\x82\xab\xe3\x83\x8a"), "\xe3\x82\xab\xe3\x83\x8a");
    /* ka and a voiced mark are ga, one word. */
    ck_assert_str_eq(words("\xe3\x81\x8b\xe3\x82\x99\xe3\x81\xaa"), "\xe3\x81\x8c|\xe3\x81\xaa");
    char many[3001] = "";
    for (int i = 0; i < 1000; i++)
        memcpy(many + 3 * i, "\xe6\xbc\xa2", 3);
    size_t n = 0;
    for (const char *p = words_by("none", many, 3000); *p; p++)
        n += *p == '|';
    ck_assert_uint_eq(n, 999);
}
END_TEST

START_TEST(soft_hyphens_and_joiners_within_words_are_dropped)
{
    ck_assert_str_eq(words("co\xc2\xadoperate"), "cooperate");
    ck_assert_str_eq(words("a\xe2\x80\x8d"
                           "b"),
                     "ab");
    ck_assert_str_eq(words("a\xe2\x80\x8b"
                           "b"),
                     "a|b"); /* a zero-width space */
}
END_TEST

START_TEST(bytes_that_are_no_utf8_separate)
{
    ck_assert_str_eq(words("ab\xff"
                           "cd\xc3"),
                     "ab|cd");
    ck_assert_str_eq(words("\xc3\xa4\xc3"
                           "b"),
                     "\xc3\xa4|b");
    ck_assert_str_eq(words_by("none", "a\0b", 3), "a|b");
    ck_assert_str_eq(words_by("none", "ab\xc3\xa4", 3), "ab"); /* truncated */
}
END_TEST

START_TEST(long_words_are_cut_at_a_character)
{
    char text[6000], want[EK_NAME_TEXT_BYTES_MAX + 1];
    memset(text, 'A', sizeof text);
    memset(want, 'a', EK_NAME_TEXT_BYTES_MAX);
    want[EK_NAME_TEXT_BYTES_MAX] = 0;
    ck_assert_str_eq(words_by("none", text, sizeof text), want);
    text[sizeof text - 1] = '\xe4'; /* another code path with the same result */
    ck_assert_str_eq(words_by("none", text, sizeof text), want);
    for (size_t i = 0; i < sizeof text; i += 3)
        memcpy(text + i, "\xe3\x82\xab", 3);
    ck_assert_uint_eq(strlen(words_by("none", text, sizeof text)), EK_NAME_TEXT_BYTES_MAX / 3 * 3);
}
END_TEST

START_TEST(stems_are_those_of_the_language)
{
    ck_assert_str_eq(words_by("english", "Running runs RUNNER ran", 23), "run|run|runner|ran");
    ck_assert_str_eq(words_by("german", "H\xc3\xa4user Haus", 12), "haus|haus");
}
END_TEST

START_TEST(a_stemmer_that_there_is_not_is_told_with_the_nearest)
{
    struct ek_words *w;
    struct ek_error e;
    ck_assert_int_eq(ek_words_new(&w, "englsh", &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "no stemmer is called 'englsh', did you mean 'english'?");
    ck_assert_int_eq(ek_words_new(&w, "", &e), EK_EUSAGE);
}
END_TEST

static int stop(void *context, const char *term, size_t length)
{
    (void)term;
    (void)length;
    return ++*(int *)context == 2 ? EK_ELIMIT : EK_OK;
}

START_TEST(a_caller_that_fails_ends_it)
{
    struct ek_words *w;
    int calls = 0;
    ck_assert_int_eq(ek_words_new(&w, "none", NULL), EK_OK);
    ck_assert_int_eq(ek_words_each(w, "a b c d", 7, stop, &calls), EK_ELIMIT);
    ck_assert_int_eq(calls, 2);
    ek_words_free(w);
}
END_TEST

Suite *suite_words(void);
Suite *suite_words(void)
{
    return ek_suite(
        "words", words_are_runs_of_letters_and_digits_in_small_letters,
        accents_and_compatible_forms_are_folded, greek_folds_its_final_sigma,
        ideographs_and_hiragana_are_words_each_katakana_runs,
        soft_hyphens_and_joiners_within_words_are_dropped, bytes_that_are_no_utf8_separate,
        long_words_are_cut_at_a_character, stems_are_those_of_the_language,
        a_stemmer_that_there_is_not_is_told_with_the_nearest, a_caller_that_fails_ends_it);
}
