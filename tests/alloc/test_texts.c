/* Allocation failures while text features are selected and computed. */
#include "tests/alloc/sweep.h"
#include "tests/texts.h"

#include "text/features/features.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { DOCUMENTS = 30, DOCUMENT = 7, ROW = 592 };

static const char CHOICE[] = "features: [all]\nparameters: {sdm: {mu: 100}}\n";
static char path[] = "/tmp/ek-alloc-texts-XXXXXX";

static int choose(struct ek_error *e)
{
    struct ek_feature_choice *c;
    int rc = ek_feature_choice_parse(&c, "f", CHOICE, sizeof CHOICE - 1, e);
    if (!rc)
        ek_feature_choice_free(c);
    return rc;
}

static int ask(struct ek_text_features *f, struct ek_error *e)
{
    static const char query[] = "w0 w1 nobody w2 w0";
    float row[ROW];
    int rc = ek_text_features_query(f, query, sizeof query - 1, e);
    return rc ? rc : ek_text_features_document(f, DOCUMENT, NAN, row, e);
}

static int extract(struct ek_error *e)
{
    struct ek_feature_choice *c;
    struct ek_text_features *f;
    struct ek_index *x;
    int rc = ek_feature_choice_parse(&c, "f", CHOICE, sizeof CHOICE - 1, e);
    if (rc)
        return rc;
    rc = ek_index_open(&x, path, e);
    if (!rc) {
        rc = ek_text_features_new(&f, x, c, e);
        if (!rc) {
            rc = ask(f, e);
            ek_text_features_free(f);
        }
        ek_index_close(x);
    }
    ek_feature_choice_free(c);
    return rc;
}

START_TEST(a_choice_of_features_survives_any_allocation_failing)
{
    ek_sweep(choose);
}
END_TEST

START_TEST(features_survive_any_allocation_failing)
{
    static struct ek_texts t;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ek_texts_make(&t, DOCUMENTS, 3);
    ek_texts_index(&t, path, EK_BUILD_MEMORY);
    ek_sweep(extract);
    unlink(path);
}
END_TEST

Suite *suite_texts(void)
{
    return ek_suite("texts", a_choice_of_features_survives_any_allocation_failing,
                    features_survive_any_allocation_failing);
}
