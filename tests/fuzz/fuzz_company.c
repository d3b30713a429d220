/* Fleet with forged records: plans, evidence reports, rows, comparisons and commands, either
 * genuine with changed bytes or random with a valid header. Every rejection has a message, the
 * leader's plans are readable, commands are answered, and all readers of one log follow the same
 * plan.
 *
 * The input is a sequence of operations (see `act`). The upper three bits of the first byte select
 * the operation, the others its variant; its data follows.
 */
#include "base/hash.h"
#include "tests/fuzz/company.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

enum { ORDERS_MAX = 64, CRC = 4, MAGIC = 4 };

struct script {
    const uint8_t *at, *end;
    uint64_t orders; /* of operators */
};

static uint8_t next(struct script *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

/* Return the next bytes, as many as are available. */
static const uint8_t *some(struct script *s, size_t *length)
{
    const uint8_t *bytes = s->at;
    if ((size_t)(s->end - s->at) < *length)
        *length = (size_t)(s->end - s->at);
    s->at += *length;
    return bytes;
}

static bool is_plans(uint8_t kind)
{
    return kind == EK_FLEET_PLAN || kind == EK_FLEET_REPLY;
}

/* Send a record with a valid checksum. */
static void send(struct company *c, struct ek_buf *record)
{
    if (record->length < MAGIC + CRC)
        return;
    uint32_t crc = ek_crc32(record->data, record->length - CRC);
    for (int i = 0; i < CRC; i++)
        record->data[record->length - CRC + (size_t)i] = (uint8_t)(crc >> 8 * i);
    company_send(c, record->data, record->length, is_plans(record->data[3]));
}

/* Send the newest genuine record of a kind with changed bytes. */
static void forge(struct company *c, struct script *s, unsigned how)
{
    struct ek_buf record;
    const struct ek_buf *genuine = &c->last[how % COMPANY_KINDS].bytes;
    ek_buf_init(&record, 0);
    ek_fuzz_require(!genuine->length || !ek_buf_add(&record, genuine->data, genuine->length),
                    "no memory");
    for (int edits = next(s) % 8; edits; edits--) {
        size_t place = (size_t)(next(s) | next(s) << 8);
        uint8_t value = next(s);
        if (place < record.length)
            record.data[place] = value;
    }
    send(c, &record);
    ek_buf_release(&record);
}

static const char *name_of(unsigned who)
{
    static const char *const names[] = {"node-0", "node-1", "it", ""};
    return names[who % 4];
}

/* Start a plan of another leader that ends with the input. */
static void begin_plan(const struct company *c, struct script *s, struct ek_serialize *w,
                       struct ek_buf *out)
{
    const struct ek_fleet_plan_head head = {.decider = ek_text_from(name_of(next(s))),
                                            .term = 1 + next(s),
                                            .version = (uint64_t)1 << next(s) % 63,
                                            .episodes = (uint32_t)next(s) << 24,
                                            .from_ms = c->stream_ms + next(s) * 100,
                                            .clock_ms = c->clock_ms,
                                            .dimensions = {1, {{"arm", 3}}}};
    ek_fleet_plan_start(w, out, &head);
}

static void begin_record(const struct company *c, struct script *s, enum ek_fleet_kind kind,
                         struct ek_serialize *w, struct ek_buf *out)
{
    const struct company_assets *a = company_assets();
    struct ek_fleet_head head = {.instance = ek_text_from(name_of(next(s))),
                                 .start = c->start + next(s) % 2,
                                 .number = next(s),
                                 .time_ms = c->stream_ms + next(s) * 100,
                                 .manifest = a->manifest->hash,
                                 .profile = ek_profile_hash(a->profile),
                                 .dimensions = {1, {{"arm", 3}}}};
    ek_record_writer_start(w, out, kind);
    ek_fleet_head_walk(w, &head);
}

/* Send a valid header followed by the input. */
static void make_up(struct company *c, struct script *s, unsigned how)
{
    static const enum ek_fleet_kind kinds[] = {EK_FLEET_REPORT, EK_FLEET_ROWS, EK_FLEET_COMPARISONS,
                                               EK_FLEET_PLAN};
    enum ek_fleet_kind kind = kinds[how % 4];
    struct ek_serialize w;
    struct ek_buf record;
    ek_buf_init(&record, 0);
    if (kind == EK_FLEET_PLAN)
        begin_plan(c, s, &w, &record);
    else
        begin_record(c, s, kind, &w, &record);
    size_t length = next(s);
    const uint8_t *bytes = some(s, &length);
    ek_fuzz_require(!w.rc && !ek_buf_add(&record, bytes, length) && !ek_record_writer_finish(&w),
                    "no memory");
    send(c, &record);
    ek_buf_release(&record);
}

/* Send a well-formed command, possibly a duplicate. */
static void say(struct company *c, struct script *s, unsigned how)
{
    static const enum ek_decision_kind dids[] = {EK_DECIDED_PIN,    EK_DECIDED_UNPIN,
                                                 EK_DECIDED_PAUSE,  EK_DECIDED_RESUME,
                                                 EK_DECIDED_ACCEPT, EK_DECIDED_REVERT};
    static const char *const features[] = {"price", "size", "flag", "nights", "none", ""};
    static const char *const values[] = {NULL, "A", "B", "C"};
    const struct company_assets *a = company_assets();
    uint8_t what = next(s), where = next(s);
    const char *value = values[where % 4];
    enum ek_decision_kind did = dids[how % 6];
    struct ek_buf record;
    const char *feature = features[what % 6];
    const struct ek_order o = {.id = {ek_text_from(name_of(where >> 6)), c->start, s->orders},
                               .kind = did,
                               .feature = *feature ? feature : NULL,
                               .segment = value ? "arm" : NULL,
                               .value = value,
                               .action = (enum ek_action)(what / 6 % EK_ACTION_COUNT),
                               .version = did == EK_DECIDED_REVERT ? what % 4 : 0,
                               .until_ms = where & 0x20 ? c->stream_ms + 3000 : 0,
                               .author = "ana",
                               .reason = where & 0x10 ? "by night" : NULL};
    s->orders += !(where & 8);
    ek_buf_init(&record, 0);
    ek_fuzz_require(!ek_fleet_order_write(&o, a->manifest->hash, &record),
                    "an order cannot be written");
    company_send(c, record.data, record.length, false);
    ek_buf_release(&record);
}

/* Change the leader. */
static void change(struct company *c, unsigned how)
{
    struct ek_leader *d = c->decider[how % 2];
    if (how & 2)
        ek_leader_stop(d);
    else
        ek_leader_start(d, c->clock_ms);
}

/* Return false after the last genuine list. */
static bool act(struct company *c, struct script *s)
{
    uint8_t byte = next(s);
    unsigned how = byte & 0x1f;
    switch (byte >> 5) {
    case 0:
    case 1: {
        bool more = true;
        for (unsigned ticks = 1 + (byte >> 3); more && ticks; ticks--)
            more = company_tick(c, (enum company_fault)(byte & 7));
        return more;
    }
    case 2:
        return company_early(c, (enum company_fault)(byte & 7));
    case 3:
        say(c, s, how);
        return true;
    case 4:
        forge(c, s, how);
        return true;
    case 5:
        make_up(c, s, how);
        return true;
    case 6:
        company_try(c, how / 32.);
        return true;
    default:
        if (how < 16)
            change(c, how);
        else if (how == 16)
            company_restart(c);
        else
            c->clock_ms += 1000 * (int64_t)how;
        return true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script s = {data, data + size, 1};
    struct company *c = company_open();
    for (int n = 0; n < ORDERS_MAX && s.at < s.end && act(c, &s); n++)
        ;
    company_tick(c, SOUND);
    company_close(c);
    return 0;
}
