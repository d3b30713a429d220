/* Wide columns without memory: they are selected, and appended to a message. */
#include "base/error.h"
#include "serve/assets.h"
#include "serve/feature_writer.h"
#include "serve/wide_columns.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: stars, index: 2, role: item}\n";
/* {items: [{features: [2, 3]}, {features: [8, 4]}]} */
static const char MESSAGE[] = "\x81\xa5"
                              "items"
                              "\x92\x81\xa8"
                              "features"
                              "\x92\x02\x03"
                              "\x81\xa8"
                              "features"
                              "\x92\x08\x04";

struct scene {
    struct ek_assets a;
    struct ek_feature_writer *w;
    struct ek_list q;
    struct ek_buf out;
};

static int make(struct scene *s, struct ek_error *e)
{
    int rc = ek_manifest_parse(&s->a.manifest, "m", MANIFEST, strlen(MANIFEST), e);
    if (!rc)
        rc = ek_profile_new(&s->a.profile, s->a.manifest, 1, NULL, e);
    if (!rc)
        rc = ek_codec_new(&s->a.codec, s->a.manifest, NULL, NULL, e);
    if (rc)
        return rc;
    s->a.profile->baseline[0].share[1] = .5f;
    rc = ek_wide_columns_new(&s->a.wide, s->a.manifest, s->a.profile, e);
    if (!rc && ek_feature_writer_new(&s->w, s->a.manifest))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    return rc;
}

static int append(struct ek_error *e)
{
    struct scene s = {0};
    struct ek_feature_list list = {
        .assets = &s.a, .query = &s.q, .message = MESSAGE, .length = strlen(MESSAGE)};
    ek_list_init(&s.q);
    ek_buf_init(&s.out, 0);
    int rc = make(&s, e);
    if (!rc)
        rc = ek_codec_decode(s.a.codec, MESSAGE, strlen(MESSAGE), &s.q, e);
    list.wide = s.a.wide;
    if (!rc)
        rc = ek_feature_writer_write(s.w, &list, &s.out, e);
    ek_feature_writer_free(s.w);
    ek_buf_release(&s.out);
    ek_list_release(&s.q);
    ek_assets_release(&s.a);
    return rc;
}

START_TEST(wide_columns_without_memory_leave_nothing)
{
    ek_sweep(append);
}
END_TEST

Suite *suite_wide_columns(void)
{
    return ek_suite("wide columns", wide_columns_without_memory_leave_nothing);
}
