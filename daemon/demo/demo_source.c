#include "daemon/demo/demo_source.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parse.h"
#include "daemon/files/upstream_sim.h"
#include "lists/codec.h"
#include "offline/world/hotel.h"

#include <string.h>

/* Data of a sent list. */
struct sent {
    uint64_t hash; /* of the message */
    double upstream, unrouted, clean;
    bool concerned, broken;
};

struct ek_demo_source {
    const struct ek_manifest *m;
    struct ek_hotel *hotel;
    struct ek_upstream_sim *plain;    /* scores by the upstream model */
    struct ek_upstream_sim *unrouted; /* fault, and scores by the routable model */
    struct ek_codec *codec;
    struct ek_list q;
    struct ek_buf bytes;
    struct sent *sent;
    size_t count, room;
};

void ek_demo_source_free(struct ek_demo_source *f)
{
    if (!f)
        return;
    ek_hotel_free(f->hotel);
    ek_upstream_sim_free(f->plain);
    ek_upstream_sim_free(f->unrouted);
    ek_codec_free(f->codec);
    ek_list_release(&f->q);
    ek_buf_release(&f->bytes);
    ek_free(f->sent);
    ek_free(f);
}

static int open_parts(struct ek_demo_source *f, const char *upstream, const char *routable,
                      uint64_t seed, struct ek_error *e)
{
    static const char *const fault[] = {EK_DEMO_FAULT};
    struct ek_upstream_sim_options o = {.manifest = f->m, .model = upstream, .seed = seed};
    int rc = ek_hotel_new(&f->hotel, seed, e);
    if (!rc)
        rc = ek_codec_new(&f->codec, f->m, NULL, NULL, e);
    if (!rc)
        rc = ek_upstream_sim_new(&f->plain, &o, e);
    o.model = routable;
    o.faults = fault;
    o.fault_count = 1;
    if (!rc)
        rc = ek_upstream_sim_new(&f->unrouted, &o, e);
    return rc;
}

int ek_demo_source_new(struct ek_demo_source **out, const struct ek_manifest *m,
                       const char *upstream, const char *routable, uint64_t seed,
                       struct ek_error *e)
{
    struct ek_demo_source *f = ek_calloc(1, sizeof *f);
    if (!f)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    f->m = m;
    ek_list_init(&f->q);
    ek_buf_init(&f->bytes, 0);
    int rc = open_parts(f, upstream, routable, seed, e);
    if (rc) {
        ek_demo_source_free(f);
        return rc;
    }
    *out = f;
    return EK_OK;
}

static double ndcg10(const struct ek_list *q)
{
    static const struct ek_metric metric = {EK_NDCG, 10};
    int order[EK_HOTEL_ITEMS_MAX];
    double scratch[EK_HOTEL_ITEMS_MAX];
    ek_rank(q->score, q->items, order);
    return ek_metric_compute(metric, EK_GAIN_EXP, order, q->label, q->items, 2, scratch);
}

static struct sent *add_sent(struct ek_demo_source *f)
{
    struct sent *larger = ek_grow(f->sent, f->count, &f->room, sizeof *larger);
    if (!larger)
        return NULL;
    f->sent = larger;
    return &f->sent[f->count];
}

static bool in_arm_b(const struct ek_list *q)
{
    struct ek_text arm = ek_list_segment(q, "arm");
    return arm.length == 1 && *arm.text == 'B';
}

int ek_demo_source_next(struct ek_demo_source *f, bool faulty, int64_t now_ms, const void **bytes,
                        size_t *length, struct ek_error *e)
{
    struct sent *s = add_sent(f);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_hotel_list(f->hotel, f->count, &f->q, e);
    if (!rc)
        rc = ek_upstream_sim_apply(f->plain, &f->q, f->count, e);
    if (rc)
        return rc;
    s->concerned = in_arm_b(&f->q);
    s->broken = faulty && s->concerned;
    s->clean = s->upstream = s->unrouted = ndcg10(&f->q);
    if (s->broken) {
        rc = ek_upstream_sim_apply(f->unrouted, &f->q, f->count, e);
        s->unrouted = ndcg10(&f->q);
        if (!rc)
            rc = ek_upstream_sim_apply(f->plain, &f->q, f->count, e);
        s->upstream = ndcg10(&f->q);
    }
    f->q.time_ms = now_ms;
    ek_buf_clear(&f->bytes);
    if (!rc)
        rc = ek_codec_encode(f->m, &f->q, EK_FEATURES_BIN, &f->bytes, e);
    if (rc)
        return rc;
    s->hash = ek_hash(f->bytes.data, f->bytes.length, 0);
    f->count++;
    *bytes = f->bytes.data;
    *length = f->bytes.length;
    return EK_OK;
}

/* Parse the list id `q-N`. Return false if it was never sent. */
static bool number_of(const struct ek_demo_source *f, struct ek_text id, uint64_t *number)
{
    return id.length > 2 && !memcmp(id.text, "q-", 2) &&
           !ek_parse_u64(id.text + 2, id.length - 2, number) && *number < f->count;
}

int ek_demo_source_evaluate(struct ek_demo_source *f, const void *bytes, size_t length, bool routed,
                            struct ek_demo_result *out, struct ek_error *e)
{
    uint64_t number;
    int rc = ek_codec_decode(f->codec, bytes, length, &f->q, e);
    if (rc)
        return rc;
    if (!number_of(f, f->q.id, &number) || f->q.items > EK_HOTEL_ITEMS_MAX)
        return ek_fail(e, EK_EFORMAT, "unknown search '%.*s' in the output", (int)f->q.id.length,
                       f->q.id.text);
    const struct sent *s = &f->sent[number];
    *out = (struct ek_demo_result){.number = number,
                                   .concerned = s->concerned,
                                   .broken = s->broken,
                                   .untouched = ek_hash(bytes, length, 0) == s->hash,
                                   .routed = routed,
                                   .upstream = s->upstream,
                                   .unrouted = s->unrouted,
                                   .guarded = ndcg10(&f->q),
                                   .clean = s->clean};
    return EK_OK;
}
