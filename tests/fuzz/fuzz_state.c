/* States: changed records are rejected, or give a guard that can be used and saved.
 *
 * The input is a list of edits of 8 bytes: record (2), position (2), width (1) and value (3). The
 * bits of the first byte select corrected hashes (1), which reach the code after the check; a state
 * of lists assembled from items (2); one with an accepted shift (4); and one with pins and a pause
 * (8).
 */
#include "base/hash.h"
#include "guard/guard_internal.h"
#include "guard/state.h"
#include "tests/fuzz/fuzz.h"
#include "tests/state_world.h"

enum { LISTS = 60, TRAINING = 400, USED = 8, EDIT = 8, HASH = 8, WORLDS = 4 };

/* Guards of lists, of items, of lists with an accepted price shift, and one with operator commands.
 */
static struct world {
    struct ek_assets assets;
    struct state_store own;
    bool items, accepts, orders;
} worlds[WORLDS];
static struct ek_assets assets;

static int encode(const struct world *w, const struct ek_list *q, int i, struct ek_buf *out)
{
    ek_buf_clear(out);
    return w->items ? ek_codec_encode_item(assets.manifest, q, i, EK_FEATURES_ARRAY, out, NULL)
                    : ek_codec_encode(assets.manifest, q, EK_FEATURES_ARRAY, out, NULL);
}

/* The last list of items lacks its last item. */
static void observe(const struct world *w, struct ek_guard *g, uint64_t seed, int lists)
{
    struct shop s;
    struct ek_buf message;
    const char *event;
    size_t length;
    shop_open(&s, seed, 4);
    ek_buf_init(&message, 0);
    for (int n = 0; n < lists; n++) {
        struct ek_list *q = shop_next(&s);
        for (int i = 0; n >= lists / 3 && i < q->items; i++)
            q->x[2 * i] *= 100;
        for (int i = 0; i < (w->items ? q->items - (n == lists - 1) : 1); i++) {
            ek_fuzz_require(!encode(w, q, i, &message) &&
                                !ek_guard_observe(g, message.data, message.length, 0, NULL),
                            "a list is refused");
            ek_guard_score(g, &length, NULL);
        }
        if (seed != 5)
            while (ek_guard_next_event(g, &event) > 0)
                ek_fuzz_require(event != NULL, "no event");
    }
    ek_buf_release(&message);
    shop_close(&s);
}

/* Pins with and without reason and end, a pause, and their history. */
static int give_orders(struct ek_guard *g)
{
    int rc = ek_guard_pin(g, "price", "arm", "B", "none", 0, "ana", "odd", NULL);
    if (!rc)
        rc = ek_guard_pin(g, "price", NULL, NULL, "alert", INT64_MAX, NULL, NULL, NULL);
    if (!rc)
        rc = ek_guard_unpin(g, "price", NULL, NULL, "bo", NULL, NULL);
    if (!rc)
        rc = ek_guard_pin(g, "price", "market", "DE", "alert", 0, NULL, "new", NULL);
    return rc ? rc : ek_guard_pause(g, "ana", "odd", NULL);
}

static void set_up(void)
{
    static const char text[] =
        "version: 1\n"
        "defaults: {mode: enforce, confirmation_lists: 8, min_duration: 10s}\n"
        "segments: [arm, market]\n"
        "windows: {length: 20s, retention: 2, max_segments: 4}\n";
    state_assets_open(&assets, text, TRAINING);
    for (int i = 0; i < WORLDS; i++) {
        const struct ek_mapping mapping = {.layout = i == 1 ? EK_LAYOUT_ITEM : EK_LAYOUT_LIST};
        struct world *w = &worlds[i];
        struct ek_guard *g;
        uint64_t version;
        w->items = i == 1;
        w->accepts = i == 2;
        w->orders = i == 3;
        w->assets = assets;
        w->assets.assembly.queries = 50;
        ek_fuzz_require(!ek_codec_new(&w->assets.codec, assets.manifest, &mapping, NULL, NULL) &&
                            !ek_guard_new(&g, &w->assets, NULL),
                        "no guard");
        observe(w, g, 5, LISTS);
        ek_fuzz_require(!w->accepts ||
                            !ek_guard_accept(g, "price", NULL, NULL, NULL, NULL, &version, NULL),
                        "nothing to accept");
        ek_fuzz_require(!w->orders || !give_orders(g), "not to be told");
        ek_fuzz_require(!ek_guard_save(g, 0, "note", 4, state_put, &w->own, NULL), "no state");
        ek_guard_free(g);
    }
}

static int drop(void *to, const char *key, const void *bytes, size_t length)
{
    (void)to;
    (void)bytes;
    (void)length;
    return key[0] == 0;
}

static void try(const struct world *w, struct state_store *s)
{
    enum ek_restore_result fit;
    struct ek_guard *g = NULL;
    struct ek_state *state;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_state_new(&state, NULL), "no memory");
    for (int i = 0; i < s->count; i++)
        if (ek_state_add(state, s->record[i].key, s->record[i].bytes, s->record[i].length, &e))
            ek_fuzz_require(e.message[0] != 0, "refused without a word");
    if (ek_guard_load(&g, &w->assets, state, &fit, &e)) {
        ek_fuzz_require(!g && e.message[0] && ek_restore_result_name(fit),
                        "refused without a word");
    } else {
        observe(w, g, 9, USED);
        if (w->accepts && ek_guard_revert(g, 1, NULL, NULL, &e))
            ek_fuzz_require(e.message[0] != 0, "refused without a word");
        if (w->orders && (ek_guard_unpin(g, "price", "arm", "B", NULL, NULL, &e) ||
                          ek_guard_resume(g, NULL, NULL, &e)))
            ek_fuzz_require(e.message[0] != 0, "refused without a word");
        ek_fuzz_require(!ek_guard_save(g, 0, NULL, 0, drop, NULL, &e), e.message);
    }
    ek_guard_free(g);
    ek_state_free(state);
}

static struct state_record *find(struct state_store *s, const char *part, int record)
{
    char key[EK_KEY_BYTES];
    ek_checkpoint_key(key, part, record);
    int i = state_find(s, key);
    ek_fuzz_require(i < s->count, "no such record");
    return &s->record[i];
}

static uint64_t hash_of(const struct state_record *r)
{
    return ek_hash(r->bytes + STATE_FRAME, r->length - STATE_FRAME, 0);
}

/* Set the hashes of the changed records in index and header. */
static void seal(struct state_store *s, const struct ek_checkpoint_index *index)
{
    struct state_record *i = find(s, "index", 0), *head = &s->record[s->count - 1];
    size_t at = STATE_FRAME + sizeof(int32_t);
    for (int part = 0; part < index->count; part++) {
        at += sizeof(uint32_t) + strlen(index->part[part].name) + sizeof(int32_t);
        for (int n = 0; n < index->part[part].records; n++, at += HASH) {
            uint64_t hash = hash_of(find(s, index->part[part].name, n));
            memcpy(i->bytes + at, &hash, HASH);
        }
    }
    uint64_t hash = hash_of(i);
    memcpy(head->bytes + head->length - 2 * HASH, &hash, HASH);
    hash = ek_hash(head->bytes, head->length - HASH, 0);
    memcpy(head->bytes + head->length - HASH, &hash, HASH);
}

static struct ek_checkpoint_index index_of(struct state_store *s)
{
    struct ek_checkpoint_index index = {0};
    const struct state_record *r = find(s, "index", 0);
    struct ek_serialize bytes = {.at = r->bytes + STATE_FRAME, .end = r->bytes + r->length};
    ek_checkpoint_index_serialize(&index, &bytes);
    ek_fuzz_require(!bytes.rc, "an index of ours is refused");
    return index;
}

static void edit(struct state_store *s, const uint8_t *data)
{
    size_t number = (size_t)data[0] | (size_t)data[1] << 8;
    struct state_record *r = &s->record[number % (size_t)s->count];
    size_t at = (size_t)data[2] | (size_t)data[3] << 8, width = data[4] % 3 + 1;
    if (r->length > 3)
        memcpy(r->bytes + at % (r->length - 3), data + 5, width);
}

/* Check a single record as read from a topic. */
static void try_record(const uint8_t *data, size_t size)
{
    struct ek_state *state;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_state_new(&state, NULL), "no memory");
    if (ek_state_add(state, "head", data, size, &e) || ek_state_add(state, "x.000", data, size, &e))
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    ek_state_free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!assets.manifest)
        set_up();
    try_record(data, size);
    if (!size)
        return 0;
    struct world *w = &worlds[data[0] & 8 ? 3 : data[0] & 4 ? 2 : data[0] >> 1 & 1];
    struct state_store *own = &w->own, *copy = calloc(1, sizeof *copy);
    struct ek_checkpoint_index index = index_of(own);
    for (int i = 0; i < own->count; i++)
        state_put(copy, own->record[i].key, own->record[i].bytes, own->record[i].length);
    int fit = data[0] & 1;
    for (data++, size--; size >= EDIT; data += EDIT, size -= EDIT)
        edit(copy, data);
    if (fit)
        seal(copy, &index);
    try(w, copy);
    ek_checkpoint_index_clear(&index);
    state_clear(copy);
    free(copy);
    return 0;
}
