/* Assets of a guard on the small stream, with a model that has the routing of its manifest. */
#ifndef EK_TESTS_STREAM_ASSETS_H
#define EK_TESTS_STREAM_ASSETS_H

#include "lists/codec.h"
#include "serve/assets.h"
#include "tests/check.h"
#include "tests/guard_model.h"
#include "tests/stream.h"

#include <string.h>

enum { STREAM_TRAINING = 4000 };

/* Create the assets. With mapping NULL, messages are lists with the default field names. The
 * caller frees them with ek_assets_release. */
static inline void stream_assets_open(struct ek_assets *a, const char *rules,
                                      const struct ek_mapping *mapping)
{
    struct ek_error e;
    memset(a, 0, sizeof *a);
    a->manifest = stream_manifest();
    a->profile = stream_profile(a->manifest, STREAM_TRAINING);
    a->model = guard_model(a->manifest);
    int rc = ek_rules_parse(&a->rules, a->manifest, "rules", rules, strlen(rules), &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_int_eq(ek_codec_new(&a->codec, a->manifest, mapping, NULL, NULL), EK_OK);
}

#endif
