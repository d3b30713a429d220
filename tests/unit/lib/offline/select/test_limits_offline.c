/* Named limits of memory and output of commands: at a limit they work; above, they fail or are
 * bounded as documented. tests/cli/limits.sh covers options. */
#include "base/buf.h"
#include "offline/select/importance.h"
#include "offline/scale/cutting_planes.h"
#include "daemon/tools/extract/npz.h"
#include "schema/units.h"
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "tests/stream.h"
#include "text/index/words.h"

#include <unistd.h>

/* Write an archive of that many arrays, or with a string of that many bytes, and delete it. */
static int archive(int arrays, int bytes, char said[SAID_BYTES])
{
    static char text[EK_NPZ_TEXT_MAX + 1];
    char dir[] = "/tmp/ek-npz-XXXXXX", path[64], name[16];
    struct ek_npz *z = NULL;
    struct ek_error e = {0};
    int rc = EK_OK, number;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.npz", dir);
    must(ek_npz_open(&z, path, NULL));
    for (int i = 0; !rc && i < arrays; i++) {
        snprintf(name, sizeof name, "a%d", i);
        rc = ek_npz_array(z, name, EK_NPZ_TEXT, 0, &number, &e);
    }
    memset(text, 'x', sizeof text);
    if (!rc)
        rc = ek_npz_text(z, number, text, (size_t)bytes, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_npz_abandon(z);
    rmdir(dir);
    return rc;
}

static int arrays(int count, char said[SAID_BYTES])
{
    return archive(count, 1, said);
}

static int text_bytes(int count, char said[SAID_BYTES])
{
    return archive(1, count, said);
}

START_TEST(an_archive_has_16_arrays_and_texts_of_64_kib)
{
    ck_limit(arrays, EK_NPZ_ARRAYS_MAX, "", "at most 16 arrays");
    ck_limit(text_bytes, EK_NPZ_TEXT_MAX, "", "a string of 65537 bytes, at most 65536");
}
END_TEST

START_TEST(a_thousand_planes_are_held_and_further_ones_in_place_of_idle_ones)
{
    struct ek_cutting_planes *p = NULL;
    struct ek_error e = {0};
    double w;
    must(ek_cutting_planes_new(&p, 1, 1, NULL)); /* with the zero plane */
    for (int i = 1; i < EK_CUTTING_PLANES_MAX; i++)
        ck_assert_int_eq(ek_cutting_planes_add(p, &(double){1}, -i, NULL), EK_OK);
    ck_assert_int_eq(ek_cutting_planes_add(p, &(double){1}, 1, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "more than 1000 planes are needed");
    ek_cutting_planes_solve(p, 1e-6, &w);
    ck_assert_int_eq(ek_cutting_planes_add(p, &(double){1}, 1, NULL), EK_OK);
    ck_assert(ek_cutting_planes_solve(p, 1e-6, &w) > 0);
    ek_cutting_planes_free(p);
}
END_TEST

static int keep(void *context, const char *word, size_t length)
{
    return ek_buf_add(context, word, length);
}

/* The words of a, that many soft hyphens, b: hyphens are dropped, and count. */
static int letters_of(int hyphens)
{
    struct ek_words *w = NULL;
    struct ek_buf text, words;
    ek_buf_init(&text, 0);
    ek_buf_init(&words, 0);
    must(ek_words_new(&w, "none", NULL));
    must(ek_buf_text(&text, "a"));
    for (int i = 0; i < hyphens; i++)
        must(ek_buf_text(&text, "\xc2\xad"));
    must(ek_buf_text(&text, "b"));
    must(ek_words_each(w, (const char *)text.data, text.length, keep, &words));
    int letters = (int)words.length;
    ek_words_free(w);
    ek_buf_release(&text);
    ek_buf_release(&words);
    return letters;
}

START_TEST(of_a_run_of_letters_256_bytes_are_looked_at)
{
    enum { FIT = (EK_RUN_BYTES_MAX - 2) / 2 };
    ck_assert_int_eq(letters_of(FIT), 2);
    ck_assert_int_eq(letters_of(FIT + 1), 1);
}
END_TEST

START_TEST(every_unit_has_fewer_ways_to_change_than_there_is_room_for)
{
    const struct ek_unit *u;
    char text[300], word[EK_UNIT_NAME_BYTES_MAX + 1] = "";
    for (size_t i = 0; (u = ek_units_at(NULL, i)); i++) {
        struct ek_manifest *m = NULL;
        struct ek_dataset d;
        struct ek_shift_impact harm;
        if (u->from)
            sscanf(u->from, "%31s", word);
        snprintf(text, sizeof text,
                 "nights_feature: nights\ncurrency_features: [x]\nfeatures:\n"
                 "- {name: x, index: 1, role: item, unit: '%s'}\n"
                 "- {name: nights, index: 2, role: query}\n",
                 word);
        must(ek_manifest_parse(&m, "m", text, strlen(text), NULL));
        ek_dataset_init(&d, 1, 1);
        ek_shift_candidates(m, 0, &d, &harm);
        ck_assert_msg(harm.shift_count > 0 && harm.shift_count < EK_SHIFTS_MAX, "%s: %d", u->id,
                      harm.shift_count);
        ek_dataset_release(&d);
        ek_manifest_free(m);
    }
}
END_TEST

Suite *suite_limits_offline(void)
{
    return ek_suite("limits offline", an_archive_has_16_arrays_and_texts_of_64_kib,
                    a_thousand_planes_are_held_and_further_ones_in_place_of_idle_ones,
                    of_a_run_of_letters_256_bytes_are_looked_at,
                    every_unit_has_fewer_ways_to_change_than_there_is_room_for);
}
