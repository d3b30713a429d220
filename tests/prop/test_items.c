/* Lists split into interleaved messages of one item give the findings and scores of whole lists. */
#include "guard/guard_items.h"

#include "tests/items.h"
#include "tests/state_world.h"

#include <stdlib.h>

enum { CASES = 6, TRAINING = 3000, LISTS = 700, FAULT_FROM = 150, FAULT_UNTIL = 420, WINDOW = 24 };

static const char RULES[] = "version: 1\n"
                            "defaults: {mode: enforce, confirmation_lists: 32, min_duration: 20s}\n"
                            "segments: [arm, market]\n";

/* An in-flight list with its items in send order. */
struct traveling {
    struct ek_list list; /* owns its arrays; strings below */
    char id[32], item_id[32][24], arm[4], market[8];
    int sent;
    uint64_t version; /* of the plan of its items */
    float score[32];  /* scores of the output */
};

struct guard {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct ek_context *again; /* context for duplicates */
    struct ek_buf message, events;
    struct ek_list out;
};

struct world {
    struct ek_rng r;
    struct shop shop;
    struct guard lists, items;
    struct traveling memory[WINDOW], *way[WINDOW]; /* the first `open` are in flight */
    int open, window, made, done;
    bool timed;              /* event time advances */
    int compared, elsewhere; /* lists with equal scores; with another plan */
    int routed, plans;
};

static void open_guard(struct guard *g, const struct ek_assets *common,
                       const struct ek_mapping *mapping)
{
    g->assets = *common;
    ck_assert_int_eq(ek_codec_new(&g->assets.codec, common->manifest, mapping, NULL, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_new(&g->guard, &g->assets, NULL), EK_OK);
    ck_assert_int_eq(ek_context_new(&g->again, &g->assets, NULL), EK_OK);
    ek_buf_init(&g->message, 0);
    ek_buf_init(&g->events, 0);
    ek_list_init(&g->out);
}

static void close_guard(struct guard *g)
{
    ek_guard_free(g->guard);
    ek_context_free(g->again);
    ek_codec_free(g->assets.codec);
    ek_buf_release(&g->message);
    ek_buf_release(&g->events);
    ek_list_release(&g->out);
}

/* Copy the shop's next list, with shuffled items if lists are mixed. */
static void begin(struct world *w, struct traveling *t, bool shuffled)
{
    struct ek_list *q = shop_next(&w->shop), *l = &t->list;
    if (w->made >= FAULT_FROM && w->made < FAULT_UNTIL && w->shop.arm_b)
        for (int i = 0; i < q->items; i++)
            q->x[2 * i] *= 100;
    int at[32];
    for (int i = 0; i < q->items; i++) {
        int other = shuffled ? (int)ek_rng_uniform_int(&w->r, (uint64_t)i + 1) : i;
        at[i] = at[other];
        at[other] = i;
    }
    ck_assert_int_eq(ek_list_resize(l, q->items, 2, 1), EK_OK);
    snprintf(t->id, sizeof t->id, "%s", w->shop.id);
    snprintf(t->arm, sizeof t->arm, "%s", w->shop.arm_b ? "B" : "A");
    snprintf(t->market, sizeof t->market, "%s", w->shop.market_name);
    l->id = item_text(t->id);
    l->time_ms = w->timed ? q->time_ms : 1000;
    l->query[0] = q->query[0];
    l->segment_count = 2;
    l->segments[0] = (struct ek_segment){item_text("arm"), item_text(t->arm)};
    l->segments[1] = (struct ek_segment){item_text("market"), item_text(t->market)};
    for (int i = 0; i < q->items; i++) {
        memcpy(l->x + 2 * i, q->x + 2 * at[i], 2 * sizeof *l->x);
        l->score[i] = q->score[at[i]];
        snprintf(t->item_id[i], sizeof t->item_id[i], "%s", w->shop.item_ids[at[i]]);
        l->item_id[i] = item_text(t->item_id[i]);
    }
    item_means(l, w->lists.assets.manifest);
    t->sent = 0;
    w->made++;
}

/* Without event times for mixed lists, as the stream is slightly ahead then. */
static void read_events(struct guard *g, bool timed, int *plans)
{
    const char *text;
    while (ek_guard_next_event(g->guard, &text)) {
        const char *time = timed ? NULL : strstr(text, "\"time_ms\":");
        size_t before = time ? (size_t)(time - text) : strlen(text);
        ck_assert_int_eq(ek_buf_add(&g->events, text, before), EK_OK);
        ck_assert_int_eq(ek_buf_text(&g->events, time ? strchr(time, ',') : ""), EK_OK);
        ck_assert_int_eq(ek_buf_text(&g->events, "\n"), EK_OK);
        *plans += strstr(text, "\"event\":\"plan\"") != NULL;
    }
}

static const void *observe(struct guard *g, size_t *length)
{
    struct ek_error e;
    int rc = ek_guard_observe(g->guard, g->message.data, g->message.length, 0, &e);
    ck_assert_msg(!rc, "%s", e.message);
    const void *out = ek_guard_score(g->guard, length, &e);
    ck_assert_msg(out != NULL, "%s", e.message);
    ck_assert_int_eq(ek_codec_decode(g->assets.codec, out, *length, &g->out, NULL), EK_OK);
    return out;
}

static void send_item(struct world *w, struct traveling *t)
{
    struct guard *g = &w->items;
    size_t length;
    int plans = 0;
    ek_buf_clear(&g->message);
    ck_assert_int_eq(ek_codec_encode_item(g->assets.manifest, &t->list, t->sent, EK_FEATURES_BIN,
                                          &g->message, NULL),
                     EK_OK);
    observe(g, &length);
    t->score[t->sent] = (float)g->out.score[0];
    read_events(g, w->timed, &plans);
    struct ek_context *c = g->again;
    ck_assert_int_eq(ek_context_decode(c, g->message.data, g->message.length, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_peek(g->guard, c, NULL), EK_OK);
    uint64_t version = ek_context_plan_version(c);
    ck_assert(!t->sent || version == t->version); /* one plan for all */
    t->version = version;
    t->sent++;
}

/* Send the list as one message. Its scores equal those of its items under the same plan, to the
 * rounding of the means of the sender. */
static void send_list(struct world *w, struct traveling *t)
{
    struct guard *g = &w->lists;
    struct ek_list whole = t->list;
    size_t length;
    whole.has_log_means = false;
    ek_buf_clear(&g->message);
    ck_assert_int_eq(
        ek_codec_encode(g->assets.manifest, &whole, EK_FEATURES_BIN, &g->message, NULL), EK_OK);
    observe(g, &length);
    read_events(g, w->timed, &w->plans);
    bool routed = !strcmp(ek_guard_action(g->guard), "routed");
    if (ek_guard_plan_version(g->guard) != t->version) {
        w->elsewhere++;
        return;
    }
    w->compared++;
    w->routed += routed;
    for (int i = 0; i < whole.items; i++)
        ck_assert_msg(
            fabs(g->out.score[i] - (double)t->score[i]) <= 1e-5 * (1 + fabs(g->out.score[i])),
            "list %d, item %d: %a, not %a", w->done, i, (double)t->score[i], g->out.score[i]);
}

static void check_same(const struct world *w)
{
    const struct ek_buf *a = &w->lists.events, *b = &w->items.events;
    size_t common = 0;
    while (common < a->length && common < b->length && a->data[common] == b->data[common])
        common++;
    ck_assert_msg(a->length == b->length && common == a->length,
                  "events differ at byte %zu:\nlists: %.300s\nitems: %.300s", common,
                  (const char *)a->data + common, (const char *)b->data + common);
}

static void stream_through(struct world *w, bool shuffled)
{
    while (w->done < LISTS) {
        while (w->open < w->window && w->made < LISTS)
            begin(w, w->way[w->open++], shuffled);
        int i = (int)ek_rng_uniform_int(&w->r, (uint64_t)w->open);
        struct traveling *t = w->way[i];
        send_item(w, t);
        if (t->sent < t->list.items)
            continue;
        send_list(w, t);
        w->done++;
        w->way[i] = w->way[--w->open];
        w->way[w->open] = t; /* its memory is reused */
    }
}

static void run_case(const struct ek_assets *common, int number, int window, bool timed,
                     bool shuffled)
{
    static struct world w;
    memset(&w, 0, sizeof w);
    w.window = window;
    w.timed = timed;
    ek_rng_seed_stream(&w.r, 5, (uint64_t)number);
    shop_open(&w.shop, 100 + (uint64_t)number, STATE_MARKETS);
    open_guard(&w.lists, common, NULL);
    open_guard(&w.items, common, &(struct ek_mapping){.layout = EK_LAYOUT_ITEM});
    for (int i = 0; i < WINDOW; i++) {
        w.way[i] = &w.memory[i];
        ek_list_init(&w.memory[i].list);
    }
    stream_through(&w, shuffled);
    check_same(&w);
    struct ek_assembly_counts c = ek_guard_item_counts(w.items.guard);
    ck_assert_uint_eq(c.complete, LISTS);
    ck_assert_uint_eq(c.incomplete + c.unknown + c.late + c.repeated + c.evicted, 0);
    ck_assert_uint_eq(ek_guard_list_count(w.items.guard), LISTS);
    ck_assert_int_ge(w.plans, 1);
    ck_assert_int_le(w.elsewhere, w.plans * window); /* those in flight */
    ck_assert_int_gt(w.routed, 20);
    for (int i = 0; i < WINDOW; i++)
        ek_list_release(&w.memory[i].list);
    close_guard(&w.lists);
    close_guard(&w.items);
    shop_close(&w.shop);
}

static void open_common(struct ek_assets *a)
{
    state_assets_open(a, RULES, TRAINING);
    ek_codec_free(a->codec);
    a->codec = NULL;
}

START_TEST(items_one_list_after_the_other_say_what_the_lists_say)
{
    struct ek_assets common;
    open_common(&common);
    for (int number = 0; number < CASES; number++)
        run_case(&common, number, 1, true, number % 2);
    ek_assets_release(&common);
}
END_TEST

START_TEST(items_of_many_lists_at_a_time_say_what_the_lists_say)
{
    struct ek_assets common;
    open_common(&common);
    for (int number = 0; number < CASES; number++)
        run_case(&common, CASES + number, 2 + 4 * number, false, true);
    ek_assets_release(&common);
}
END_TEST

Suite *suite_items(void)
{
    return ek_suite("items", items_one_list_after_the_other_say_what_the_lists_say,
                    items_of_many_lists_at_a_time_say_what_the_lists_say);
}
