/* Inputs of a detector or a guard on a small stream. */
#ifndef EK_TESTS_STREAM_WORLD_H
#define EK_TESTS_STREAM_WORLD_H

#include "base/error.h"
#include "rules/rules.h"
#include "tests/check.h"
#include "tests/stream.h"

struct stream_world {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct stream stream;
    bool lent; /* everything but the stream belongs to another world */
};

/* Initialize the world. training: lists of the profile. */
static inline void stream_world_start(struct stream_world *w, const char *rules, int training,
                                      uint64_t seed)
{
    w->rules = NULL;
    w->lent = false;
    w->manifest = stream_manifest();
    w->profile = stream_profile(w->manifest, training);
    ck_assert_int_eq(ek_rules_parse(&w->rules, w->manifest, "rules", rules, strlen(rules), NULL),
                     EK_OK);
    stream_start(&w->stream, seed);
}

static inline void stream_world_lend(struct stream_world *w, const struct stream_world *of,
                                     uint64_t seed)
{
    *w = *of;
    w->lent = true;
    stream_start(&w->stream, seed);
}

static inline void stream_world_end(struct stream_world *w)
{
    stream_end(&w->stream);
    if (w->lent)
        return;
    ek_rules_free(w->rules);
    ek_profile_free(w->profile);
    ek_manifest_free(w->manifest);
}

#endif
