/* Every file in tests/bad/KIND is rejected with the message of its first line: `# expect:
 * LINE:COLUMN: message`. Two of three messages on files written by hand state a remedy. */
#include "base/buf.h"
#include "base/file.h"
#include "daemon/config/config.h"
#include "lists/dataset.h"
#include "rules/rules.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const char FOLDER[] = "tests/bad";
enum { FEWEST_FILES = 25, FEWEST_BY_HAND = 40, PATH_BYTES = 400, TEXT_BYTES = 800 };

typedef int reading(const struct ek_manifest *m, const char *path, struct ek_error *e);

static int read_manifest(const struct ek_manifest *m, const char *path, struct ek_error *e)
{
    struct ek_manifest *bad = NULL;
    (void)m;
    int rc = ek_manifest_load(&bad, path, e);
    ek_manifest_free(bad);
    return rc;
}

static int read_rules(const struct ek_manifest *m, const char *path, struct ek_error *e)
{
    struct ek_rules *bad = NULL;
    int rc = ek_rules_load(&bad, m, path, e);
    ek_rules_free(bad);
    return rc;
}

static int read_config(const struct ek_manifest *m, const char *path, struct ek_error *e)
{
    struct ek_config *bad = NULL;
    (void)m;
    int rc = ek_config_load(&bad, path, NULL, e);
    ek_config_free(bad);
    return rc;
}

static int read_units(const struct ek_manifest *m, const char *path, struct ek_error *e)
{
    struct ek_units bad;
    (void)m;
    ek_units_init(&bad);
    int rc = ek_units_load(&bad, path, NULL, e);
    ek_units_release(&bad);
    return rc;
}

static int read_lists(const struct ek_manifest *m, const char *path, struct ek_error *e)
{
    struct ek_dataset bad;
    ek_dataset_init(&bad, m->item_count, m->query_count);
    int rc = ek_dataset_read_letor(&bad, m, path, e);
    ek_dataset_release(&bad);
    return rc;
}

/* Read the expected message of a file, prefixed by the path. */
static void read_expected(const char *path, char *text)
{
    static const char mark[] = "# expect: ", byte_order_mark[] = "\xef\xbb\xbf";
    struct ek_reader *r;
    char *line;
    ck_assert_int_eq(ek_reader_open(&r, path, NULL), EK_OK);
    ck_assert_int_eq(ek_reader_line(r, &line, NULL, NULL), EK_OK);
    if (line && !strncmp(line, byte_order_mark, strlen(byte_order_mark)))
        line += strlen(byte_order_mark);
    ck_assert_msg(line && !strncmp(line, mark, strlen(mark)), "%s does not begin with '%s'", path,
                  mark);
    snprintf(text, TEXT_BYTES, "%s:%s", path, line + strlen(mark));
    ek_reader_close(r);
}

/* Return whether a message states a remedy. */
static bool has_remedy(const char *message)
{
    static const char *const marks[] = {
        "did you mean", "must be ",     "must read ",      "use ",        "put ",
        "write ",       "take ",        "make ",           "save ",       "remove ",
        "set ",         "first at ",    "first in ",       "there are ",  "is expected",
        "such as ",     "is none of: ", "is not between ", "address:port"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(message, marks[i]))
            return true;
    return false;
}

static bool check_file(reading *read, const struct ek_manifest *m, enum ek_code code,
                       const char *path)
{
    char want[TEXT_BYTES], got[TEXT_BYTES];
    struct ek_error e = {0};
    read_expected(path, want);
    int rc = read(m, path, &e);
    ck_assert_msg(rc == (int)code, "%s: code %d instead of %d", path, rc, (int)code);
    ck_assert_str_eq(ek_error_text(&e, got, sizeof got), want);
    return has_remedy(e.message);
}

/* Return the number of files. *with counts messages with a remedy; `without` lists the other
 * files. */
static int check_folder(const char *kind, reading *read, enum ek_code code, int *with,
                        struct ek_buf *without)
{
    char path[PATH_BYTES];
    int count = 0;
    *with = 0;
    struct ek_manifest *m = NULL;
    snprintf(path, sizeof path, "%s/features.yaml", FOLDER);
    ck_assert_int_eq(ek_manifest_load(&m, path, NULL), EK_OK);
    snprintf(path, sizeof path, "%s/%s", FOLDER, kind);
    DIR *folder = opendir(path);
    ck_assert_msg(folder != NULL, "no folder '%s'", path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", FOLDER, kind, entry->d_name);
        bool says = check_file(read, m, code, path);
        *with += says;
        if (!says)
            ck_assert_int_eq(ek_buf_printf(without, " %s", entry->d_name), 0);
        count++;
    }
    closedir(folder);
    ck_assert_int_ge(count, FEWEST_FILES);
    ek_manifest_free(m);
    return count;
}

static void check_plainly(const char *kind, reading *read, enum ek_code code)
{
    struct ek_buf without;
    int with;
    ek_buf_init(&without, 0);
    check_folder(kind, read, code, &with, &without);
    ek_buf_release(&without);
}

static void check_remedies(const char *kind, reading *read)
{
    struct ek_buf without;
    ek_buf_init(&without, 0);
    int with, count = check_folder(kind, read, EK_ECONFIG, &with, &without);
    ck_assert_int_ge(count, FEWEST_BY_HAND);
    ck_assert_msg(3 * with >= 2 * count,
                  "%s: only %d of %d messages say what to do; not those of%s", kind, with, count,
                  ek_buf_string(&without));
    ek_buf_release(&without);
}

START_TEST(each_bad_manifest_gets_its_message)
{
    check_remedies("manifest", read_manifest);
}
END_TEST

START_TEST(each_bad_rules_file_gets_its_message)
{
    check_remedies("rules", read_rules);
}
END_TEST

START_TEST(each_bad_configuration_gets_its_message)
{
    check_remedies("config", read_config);
}
END_TEST

START_TEST(each_bad_catalogue_of_units_gets_its_message)
{
    check_plainly("units", read_units, EK_ECONFIG);
}
END_TEST

START_TEST(each_bad_list_gets_its_message)
{
    check_plainly("letor", read_lists, EK_EFORMAT);
}
END_TEST

Suite *suite_bad(void)
{
    return ek_suite("bad", each_bad_manifest_gets_its_message, each_bad_rules_file_gets_its_message,
                    each_bad_configuration_gets_its_message,
                    each_bad_catalogue_of_units_gets_its_message, each_bad_list_gets_its_message);
}
