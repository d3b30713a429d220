/* Tokens of authorized users. */
#include "base/file.h"
#include "daemon/config/auth.h"
#include "tests/check.h"

#include <string.h>
#include <unistd.h>

static const char PATH[] = "tokens.tmp";
static const char FULL[] = "0123456789abcdef0123456789abcdef";

static int load(struct ek_tokens **out, const char *text, struct ek_error *e)
{
    ck_assert_int_eq(ek_file_write(PATH, text, NULL), 0);
    int rc = ek_tokens_load(out, PATH, e);
    unlink(PATH);
    return rc;
}

static char name[EK_AUTHOR_BYTES + 1];

/* Return NULL for an unknown token. */
static const char *who(struct ek_tokens *t, const char *given)
{
    return ek_tokens_find(t, given, name) ? name : NULL;
}

START_TEST(each_token_is_somebodys)
{
    struct ek_tokens *t;
    struct ek_error e;
    ck_assert_msg(
        !load(&t,
              "# who may\n\n  ana 0123456789abcdef  # on call\n"
              "#ben 0123456789aaaaaa\nnameless-but-long-enough\r\n\tcy a#token#with#signs\n",
              &e),
        "%s", e.message);
    ck_assert_str_eq(who(t, "0123456789abcdef"), "ana");
    ck_assert_str_eq(who(t, "nameless-but-long-enough"), "");
    ck_assert_str_eq(who(t, "a#token#with#signs"), "cy");
    ck_assert_str_eq(ek_tokens_first(t), "0123456789abcdef");
    ek_tokens_free(t);
}
END_TEST

START_TEST(nothing_else_is_a_token)
{
    struct ek_tokens *t;
    char longer[EK_TOKEN_MAX + 60];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    ck_assert_int_eq(load(&t, longer + 59, NULL), 0);
    ck_assert_ptr_nonnull(who(t, longer + 59));
    ck_assert_ptr_null(who(t, longer + 58)); /* one character too long */
    ck_assert_ptr_null(who(t, longer + 60)); /* one too short */
    ck_assert_ptr_null(who(t, longer));
    ck_assert_ptr_null(who(t, ""));
    ek_tokens_free(t);
    ck_assert_int_eq(load(&t, longer + 60, NULL), 0);
    ck_assert_ptr_nonnull(who(t, longer + 60));
    ek_tokens_free(t);
    ck_assert_int_eq(load(&t, longer + 58, NULL), EK_ECONFIG);
    ck_assert_int_eq(load(&t, FULL, NULL), 0);
    ck_assert_ptr_null(who(t, "0123456789abcdef0123456789abcdeF"));
    ck_assert_ptr_null(who(t, "0123456789abcdef0123456789abcdef "));
    ek_tokens_free(t);
}
END_TEST

START_TEST(others_take_their_place)
{
    struct ek_tokens *t, *with;
    ck_assert_int_eq(load(&t, "ana 0123456789abcdef\nben 0123456789aaaaaa\n", NULL), 0);
    ck_assert_int_eq(load(&with, "cy 0123456789abcdef\n", NULL), 0);
    ek_tokens_replace(t, with);
    ek_tokens_free(with);
    ck_assert_str_eq(who(t, "0123456789abcdef"), "cy");
    ck_assert_ptr_null(who(t, "0123456789aaaaaa"));
    ek_tokens_free(t);
}
END_TEST

START_TEST(what_is_wrong_is_told_by_its_line_and_without_the_token)
{
    static const struct {
        const char *text, *said;
        long line;
    } bad[] = {
        {"# nobody\n", "the file has no token; add one", 0},
        {"\nsecret\n", "a token must have 16 to 200 characters; make one with", 2},
        {"ana secret\n", "a token must have 16 to 200 characters", 1},
        {"ana 0123456789secret more\n", "more than a name and a token in a line", 1},
        {"ana 0123456789secret\x01\x02\n", "must be of visible ASCII characters", 1},
        {"a-name-that-is-longer-than-the-sixty-four-characters-that-are-allowed 0123456789secret\n",
         "the name before the token must have at most 64 characters", 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_tokens *t = NULL;
        struct ek_error e;
        ck_assert_int_eq(load(&t, bad[i].text, &e), EK_ECONFIG);
        ck_assert_ptr_null(t);
        ck_assert_msg(strstr(e.message, bad[i].said) != NULL, "%s", e.message);
        ck_assert_ptr_null(strstr(e.message, "secret"));
        ck_assert_int_eq(e.line, bad[i].line);
    }
}
END_TEST

START_TEST(there_may_be_64_and_a_file_that_is_not_there_is_named)
{
    struct ek_tokens *t = NULL;
    struct ek_error e;
    struct ek_buf lines;
    char text[700];
    ek_buf_init(&lines, 0);
    for (int i = 0; i < EK_TOKENS_MAX; i++)
        ck_assert_int_eq(ek_buf_printf(&lines, "n%d token-number-%04d\n", i, i), 0);
    ck_assert_int_eq(load(&t, ek_buf_string(&lines), &e), 0);
    ck_assert_str_eq(who(t, "token-number-0063"), "n63");
    ek_tokens_free(t);
    ck_assert_int_eq(ek_buf_text(&lines, "token-number-9999\n"), 0);
    ck_assert_int_eq(load(&t, ek_buf_string(&lines), &e), EK_ECONFIG);
    ek_buf_release(&lines);
    ck_assert_int_eq(e.line, 65);
    ck_assert_int_eq(ek_tokens_load(&t, "nowhere/tokens", &e), EK_EIO);
    ck_assert_ptr_nonnull(strstr(ek_error_text(&e, text, sizeof text), "nowhere/tokens"));
}
END_TEST

Suite *suite_auth(void)
{
    return ek_suite("token", each_token_is_somebodys, nothing_else_is_a_token,
                    others_take_their_place,
                    what_is_wrong_is_told_by_its_line_and_without_the_token,
                    there_may_be_64_and_a_file_that_is_not_there_is_named);
}
