/* Serialization of episodes. */
#include "detect/detector_internal.h"
#include "tests/check.h"

#include <limits.h>

/* Return an episode without zero members, within the limits of serialization. */
static struct ek_episode full_episode(void)
{
    struct ek_episode e;
    memset(&e, 1, sizeof e);
    e.phase = EK_PHASE_CONFIRMED;
    e.diagnosis.class = e.last_class = EK_NEW_CATEGORY;
    e.claimed = e.unreported = e.recovering = 1;
    e.gradual = e.varies = e.reported_lasting = e.mix = 1;
    e.bet = EK_BET_VALUE_GONE;
    e.feature = e.cell = e.query_feature = 0x01010101;
    e.diagnosis.lists = EK_HISTORY;
    e.category.count = EK_CATEGORY_CHANGES;
    return e;
}

/* The episode is read into zeros: bytes that stay 0 are padding or unserialized members. */
START_TEST(every_member_of_an_episode_is_kept)
{
    /* The state has `usual` in a part of its own. */
    enum { GAPS = 6, PADDING = 4 * (EK_CATEGORY_CHANGES + GAPS) + sizeof(struct ek_usual) };
    const struct ek_serialize_bounds bounds = {INT_MAX, INT_MAX, INT_MAX};
    struct ek_episode e = full_episode(), read;
    struct ek_buf b;
    int lost = 0;
    ek_buf_init(&b, 0);
    struct ek_serialize out = {.out = &b};
    ek_episode_serialize(&e, &out, &bounds);
    struct ek_serialize in = {.at = b.data, .end = b.data + b.length};
    memset(&read, 0, sizeof read);
    ek_episode_serialize(&read, &in, &bounds);
    ck_assert(!out.rc && !in.rc && in.at == in.end);
    for (size_t i = 0; i < sizeof e; i++)
        lost += ((const uint8_t *)&e)[i] != ((const uint8_t *)&read)[i];
    ck_assert_int_eq(lost, PADDING);
    ek_buf_release(&b);
}
END_TEST

Suite *suite_episode(void)
{
    return ek_suite("episode", every_member_of_an_episode_is_kept);
}
