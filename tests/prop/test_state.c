/* A guard restored from its state continues as if it had never stopped. */
#include "tests/check.h"
#include "tests/state_world.h"

enum { TRAINING = 3000, LISTS = 3200, AGAIN = 19, ACCEPTED = 600, REVERTED = 780 };

/* A continuous guard, and one repeatedly stopped and restored. */
struct pair {
    struct ek_assets assets, twin; /* equal assets */
    struct shop shop;
    struct ek_rng rng;
    struct ek_guard *through, *stopped;
    struct state_store kept; /* checkpoints of the restarted one */
    struct ek_buf message;
    int n, cuts, turns, routed, findings, plans, drifts;
};

static struct pair *pair_of(uint64_t seed)
{
    struct pair *p = calloc(1, sizeof *p);
    state_assets_open(&p->assets, STATE_RULES, TRAINING);
    state_assets_open(&p->twin, STATE_RULES, TRAINING);
    ck_assert_int_eq(ek_guard_new(&p->through, &p->assets, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_new(&p->stopped, &p->assets, NULL), EK_OK);
    shop_open(&p->shop, seed, STATE_MARKETS);
    ek_rng_seed(&p->rng, seed);
    ek_buf_init(&p->message, 0);
    return p;
}

static void pair_free(struct pair *p)
{
    ek_guard_free(p->through);
    ek_guard_free(p->stopped);
    shop_close(&p->shop);
    state_clear(&p->kept);
    ek_buf_release(&p->message);
    ek_assets_release(&p->assets);
    ek_assets_release(&p->twin);
    free(p);
}

static const char *note_of(char note[32], int n)
{
    snprintf(note, 32, "offset %d", n);
    return note;
}

static void save(struct ek_guard *g, int whole, int n, struct state_store *to)
{
    char note[32];
    note_of(note, n);
    ck_assert_int_eq(ek_guard_save(g, whole, note, strlen(note), state_put, to, NULL), EK_OK);
}

/* Compare records except for checkpoint numbers; they enter the hash of the header. */
static void ck_same_records(const struct state_store *a, const struct state_store *b)
{
    enum { HASH = 8 };
    ck_assert_int_eq(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const struct state_record *x = &a->record[i];
        int at = state_find(b, x->key);
        size_t tail = strcmp(x->key, "head") != 0 ? 0 : HASH;
        ck_assert_msg(at < b->count, "no '%s'", x->key);
        ck_assert_uint_eq(x->length, b->record[at].length);
        ck_assert_msg(!memcmp(x->bytes + STATE_FRAME, b->record[at].bytes + STATE_FRAME,
                              x->length - STATE_FRAME - tail),
                      "'%s' differs", x->key);
    }
}

static void ck_same_state(struct pair *p)
{
    struct state_store *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    save(p->through, 1, 0, a);
    save(p->stopped, 1, 0, b);
    ck_same_records(a, b);
    state_clear(a);
    state_clear(b);
    free(a);
    free(b);
}

/* Switch to equal assets. */
static void turn(struct pair *p)
{
    enum ek_restore_result fit;
    struct ek_error e = {0};
    const struct ek_assets *to = p->turns++ % 2 ? &p->assets : &p->twin;
    int rc = ek_guard_set_assets(p->stopped, to, &fit, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
}

/* Write an incremental checkpoint and continue from the store. Some checkpoints are aborted, as in
 * a transaction; the next one is full. */
static void cut(struct pair *p)
{
    enum ek_restore_result fit;
    char note[32];
    size_t length;
    struct ek_error e = {0};
    if (ek_rng_uniform_int(&p->rng, 3) == 0) {
        p->kept.fail_after = 1 + (int)ek_rng_uniform_int(&p->rng, 20);
        if (ek_guard_save(p->stopped, 0, NULL, 0, state_put, &p->kept, NULL) == EK_OK)
            p->kept.fail_after = 0;
    }
    int whole = ek_rng_uniform_int(&p->rng, 3) == 0;
    if (whole)
        ck_same_state(p); /* an aborted checkpoint */
    save(p->stopped, whole, p->n, &p->kept);
    struct ek_state *state = state_of(&p->kept, (uint64_t)p->n);
    const void *found = ek_state_note(state, &length);
    note_of(note, p->n);
    ck_assert(length == strlen(note) && !memcmp(found, note, length));
    ck_assert_uint_eq(ek_state_list_count(state), ek_guard_list_count(p->through));
    if (ek_rng_uniform_int(&p->rng, 2)) {
        ek_guard_free(p->stopped);
        p->stopped = NULL;
        ek_guard_load(&p->stopped, &p->assets, state, &fit, &e);
        ck_assert_msg(p->stopped != NULL, "%s", e.message);
        ck_assert_int_eq(fit, EK_RESTORE_FULL);
        p->cuts++;
    }
    ek_state_free(state);
}

static void ck_same_events(struct pair *p)
{
    const char *a, *b;
    while (ek_guard_next_event(p->through, &a)) {
        ck_assert_int_eq(ek_guard_next_event(p->stopped, &b), 1);
        ck_assert_str_eq(a, b);
        p->plans += strstr(a, "\"event\":\"plan\"") != NULL;
        p->findings += strstr(a, "\"event\":\"finding\"") != NULL;
        p->drifts += strstr(a, "\"event\":\"model_drift\"") != NULL;
    }
    ck_assert_int_eq(ek_guard_next_event(p->stopped, &b), 0);
}

static void pass(struct pair *p)
{
    size_t length, other;
    const struct ek_buf *m = &p->message;
    ck_assert_int_eq(ek_guard_observe(p->through, m->data, m->length, 0, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_observe(p->stopped, m->data, m->length, 0, NULL), EK_OK);
    const void *a = ek_guard_score(p->through, &length, NULL);
    const void *b = ek_guard_score(p->stopped, &other, NULL);
    ck_assert(a && b && length == other && !memcmp(a, b, length));
    ck_assert_uint_eq(ek_guard_plan_version(p->through), ek_guard_plan_version(p->stopped));
    p->routed += !strcmp(ek_guard_action(p->through), "routed");
}

/* Prices in cents for arm B, a new code, new markets. */
static void disturb(struct shop *s, struct ek_list *q)
{
    uint64_t n = s->number;
    if (n % 97 < 3) /* wrong clocks; below, a stream that jumps permanently */
        q->time_ms += 7200000;
    if (n > 1000)
        q->time_ms += 300000;
    for (int i = 0; i < q->items; i++) {
        if (n > 400 && n < 900 && s->arm_b)
            q->x[2 * i] *= 100;
        if (n > 1500 && n < 2000)
            q->x[2 * i] *= 3;
        if (n > 1300 && n < 1800 && i % 2)
            q->x[2 * i + 1] = 99;
    }
    if (n > 2200 && n % 2) {
        static const char *const place[] = {"beach", "island"};
        q->segments[1].value = shop_text(place[n / 2 % 2]);
    }
}

/* Send operator commands while the price of arm B is in cents. Return the guard's result. */
static int tell(struct ek_guard *g, bool accept, uint64_t *version)
{
    return accept ? ek_guard_accept(g, "price", "arm", "B", "ana", NULL, version, NULL)
                  : ek_guard_revert(g, *version, NULL, NULL, NULL);
}

static void decide(struct pair *p)
{
    uint64_t version[2] = {1, 1};
    bool accept = p->n == ACCEPTED;
    if (p->n != ACCEPTED && p->n != REVERTED)
        return;
    ck_assert_int_eq(tell(p->through, accept, &version[0]), EK_OK);
    ck_assert_int_eq(tell(p->stopped, accept, &version[1]), EK_OK);
    ck_assert_uint_eq(version[0], version[1]);
}

/* Restarts before and after events are fetched, and while time passes without lists. */
static void run(uint64_t seed)
{
    struct pair *p = pair_of(seed);
    for (; p->n < LISTS; p->n++) {
        if (!p->n || p->n % AGAIN)
            state_message(&p->shop, &p->assets, &p->message, disturb);
        pass(p);
        decide(p);
        if (ek_rng_uniform_int(&p->rng, 70) == 0)
            turn(p);
        if (ek_rng_uniform_int(&p->rng, 70) == 0)
            cut(p);
        ck_same_events(p);
        if (ek_rng_uniform_int(&p->rng, 150) == 0) {
            int64_t now = 1000 * p->n;
            ck_assert_int_eq(ek_guard_advance(p->through, now, NULL), EK_OK);
            ck_assert_int_eq(ek_guard_advance(p->stopped, now, NULL), EK_OK);
            cut(p);
        }
    }
    ck_same_state(p);
    ck_assert_int_gt(p->cuts, 10);
    ck_assert_int_gt(p->turns, 10);
    ck_assert_int_gt(p->routed, 100);
    ck_assert_int_gt(p->findings, 3);
    ck_assert_int_gt(p->plans, 1);
    pair_free(p);
}

START_TEST(a_loaded_guard_goes_on_as_if_it_had_never_stopped)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        run(seed);
}
END_TEST

/* Return a copy of a guard through its state. */
static struct ek_guard *copy_of(struct ek_guard *g, const struct ek_assets *a)
{
    struct state_store *s = calloc(1, sizeof *s);
    struct ek_guard *copy = NULL;
    enum ek_restore_result fit;
    struct ek_error e = {0};
    save(g, 1, 0, s);
    struct ek_state *state = state_of(s, 3);
    ek_guard_load(&copy, a, state, &fit, &e);
    ck_assert_msg(copy != NULL, "%s", e.message);
    ek_state_free(state);
    state_clear(s);
    free(s);
    return copy;
}

/* The merged guard and its copy continue identically, so its state is valid. Open changes of one
 * are not found again. */
static void join(struct pair *p)
{
    struct ek_guard *through = p->through, *stopped = p->stopped;
    struct ek_guard *into = copy_of(through, &p->assets), *from = copy_of(stopped, &p->assets);
    ck_assert_int_eq(ek_guard_merge(into, from, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_list_count(into),
                      ek_guard_list_count(through) + ek_guard_list_count(stopped));
    ek_guard_free(from);
    p->through = into;
    p->stopped = copy_of(into, &p->assets);
    for (int i = 0; i < 150; i++) {
        state_message(&p->shop, &p->assets, &p->message, disturb);
        pass(p);
        ck_same_events(p);
    }
    ck_same_state(p);
    ek_guard_free(p->through);
    ek_guard_free(p->stopped);
    p->through = through;
    p->stopped = stopped;
}

START_TEST(joined_guards_go_on_and_can_be_saved)
{
    int accepts = 0;
    for (uint64_t seed = 11; seed <= 13; seed++) {
        struct pair *p = pair_of(seed);
        for (; p->n < LISTS; p->n++) {
            struct ek_guard *one = ek_rng_uniform_int(&p->rng, 3) ? p->through : p->stopped;
            const char *event;
            uint64_t version = 1 + ek_rng_uniform_int(&p->rng, 6);
            state_message(&p->shop, &p->assets, &p->message, disturb);
            ck_assert_int_eq(ek_guard_observe(one, p->message.data, p->message.length, 0, NULL),
                             EK_OK);
            while (ek_rng_uniform_int(&p->rng, 9) && ek_guard_next_event(one, &event))
                continue;
            if (ek_rng_uniform_int(&p->rng, 40) == 0)
                accepts += tell(one, ek_rng_uniform_int(&p->rng, 2), &version) == EK_OK;
            if (ek_rng_uniform_int(&p->rng, 200) == 0)
                join(p);
        }
        pair_free(p);
    }
    ck_assert_int_gt(accepts, 3);
}
END_TEST

Suite *suite_state(void)
{
    return ek_suite("state", a_loaded_guard_goes_on_as_if_it_had_never_stopped,
                    joined_guards_go_on_and_can_be_saved);
}
