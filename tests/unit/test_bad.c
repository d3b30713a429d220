/* Every file in tests/bad/KIND says in its first line what must be said about it:
 * `# expect: LINE:COLUMN: message`. Manifests, rules, units and lists alike. */
#include "base/file.h"
#include "data/dataset.h"
#include "data/rules.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const char FOLDER[] = "tests/bad";
enum { FEWEST_FILES = 25, PATH_BYTES = 400, TEXT_BYTES = 800 };

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

/* What the first line of a file wants to be said, with the path in front. */
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

static void check_file(reading *read, const struct ek_manifest *m, enum ek_code code,
                       const char *path)
{
    char want[TEXT_BYTES], got[TEXT_BYTES];
    struct ek_error e = {0};
    read_expected(path, want);
    int rc = read(m, path, &e);
    ck_assert_msg(rc == (int)code, "%s: code %d instead of %d", path, rc, (int)code);
    ck_assert_str_eq(ek_error_text(&e, got, sizeof got), want);
}

static void check_folder(const char *kind, reading *read, enum ek_code code)
{
    char path[PATH_BYTES];
    int count = 0;
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
        check_file(read, m, code, path);
        count++;
    }
    closedir(folder);
    ck_assert_int_ge(count, FEWEST_FILES);
    ek_manifest_free(m);
}

START_TEST(each_bad_manifest_gets_its_message)
{
    check_folder("manifest", read_manifest, EK_ECONFIG);
}
END_TEST

START_TEST(each_bad_rules_file_gets_its_message)
{
    check_folder("rules", read_rules, EK_ECONFIG);
}
END_TEST

START_TEST(each_bad_catalogue_of_units_gets_its_message)
{
    check_folder("units", read_units, EK_ECONFIG);
}
END_TEST

START_TEST(each_bad_list_gets_its_message)
{
    check_folder("letor", read_lists, EK_EFORMAT);
}
END_TEST

Suite *suite_bad(void)
{
    return ek_suite("bad", each_bad_manifest_gets_its_message, each_bad_rules_file_gets_its_message,
                    each_bad_catalogue_of_units_gets_its_message, each_bad_list_gets_its_message);
}
