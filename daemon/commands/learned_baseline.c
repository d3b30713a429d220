#include "daemon/commands/learned_baseline.h"

#include "base/alloc.h"
#include "base/date.h"
#include "base/file.h"
#include "base/hash.h"
#include "daemon/commands/daily_changes.h"
#include "daemon/commands/detection_delay.h"
#include "daemon/commands/message_store.h"
#include "daemon/commands/profile_halves.h"
#include "detect/evalue_tests.h"
#include "detect/detector.h"
#include "lists/codec_draft.h"
#include "lists/codec_shape.h"
#include "offline/fit/profile_fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SAMPLE = 100,     /* messages that give the mapping */
    STATS_BYTES = 16, /* of a list and feature in a fit */
    RULES_BYTES = 4096,
    YOUNG = 2000,    /* lists; fewer report only large factors */
    FEW_VALUES = 20, /* of a dimension that is monitored without levels */
    LARGE = 3,       /* factor that no healthy level wanders */
    MARGIN = 32,     /* lists before the estimated start of a change that may show it */
    PATIENCE = 4,    /* batches that a change within the first one may last */
};

/* Difference of the fraction of missing or zero values that is no fluctuation. */
static const double LARGE_SHARE = .5;

struct ek_learned_baseline {
    const struct ek_field_mapping *given;
    struct ek_learned_limits limits;
    char path[EK_LEARNED_FILES][EK_LEARNED_PATH_BYTES];
    struct ek_message_store *store; /* messages: accepted, then pending */
    long accepted_bytes;            /* of the store */
    uint64_t accepted, pending;     /* lists of the profile; messages after them */
    uint64_t offered, undecodable;  /* messages of the first batch, and of these no lists */
    struct ek_draft *draft;
    struct ek_mapping mapping;
    bool mapped, complete, discarding, young;
    struct ek_manifest *manifest;
    struct ek_rules *rules;
    struct ek_codec *codec;
    struct ek_profile *profile;
    struct ek_detector *detector;
    int open;               /* findings of the detector */
    uint64_t read;          /* lists that the detector has read */
    uint64_t resumed, kept; /* `read` and `pending` when the last change ended */
    uint64_t open_since;    /* first list of the open findings, as in `read` */
    bool daily;             /* the open findings return daily */
    struct ek_daily_changes past;
    uint64_t lost; /* messages of the first batch that were discarded for one change */
    struct ek_list list;
    struct ek_learned_fields fields;
    char change[EK_LEARNED_TEXT_BYTES / 2]; /* the last one, and its start, -1: unknown */
    int64_t change_ms;
    char reason[EK_LEARNED_TEXT_BYTES], sharpness[EK_LEARNED_TEXT_BYTES / 2];
};

const char *ek_learned_file_name(enum ek_learned_file file)
{
    static const char *const names[EK_LEARNED_FILES] = {"features.yaml", "rules.yaml",
                                                        "profile.ekp"};
    return names[file];
}

int ek_learned_new(struct ek_learned_baseline **out, const char *folder,
                   const struct ek_field_mapping *given, const struct ek_learned_limits *limits,
                   struct ek_error *e)
{
    struct ek_learned_baseline *b = ek_calloc(1, sizeof *b);
    if (!b)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    b->given = given && given->config ? given : NULL;
    b->limits = *limits;
    ek_list_init(&b->list);
    for (int i = 0; i < EK_LEARNED_FILES; i++)
        snprintf(b->path[i], sizeof b->path[i], "%.400s/%s", folder,
                 ek_learned_file_name((enum ek_learned_file)i));
    int rc = ek_message_store_new(&b->store, folder, e);
    if (!rc && b->given) {
        b->mapping = given->mapping;
        b->mapped = true;
    } else if (!rc) {
        rc = ek_draft_new(&b->draft, e);
    }
    if (rc)
        ek_learned_free(b);
    else
        *out = b;
    return rc;
}

/* Free everything that the first batch determines but the mapping. */
static void release_assets(struct ek_learned_baseline *b)
{
    ek_detector_free(b->detector);
    ek_profile_free(b->profile);
    ek_rules_free(b->rules);
    ek_codec_free(b->codec);
    ek_manifest_free(b->manifest);
    b->detector = NULL;
    b->profile = NULL;
    b->rules = NULL;
    b->codec = NULL;
    b->manifest = NULL;
}

void ek_learned_free(struct ek_learned_baseline *b)
{
    if (!b)
        return;
    release_assets(b);
    ek_draft_free(b->draft);
    ek_message_store_free(b->store);
    for (int i = 0; i < EK_LEARNED_FILES; i++)
        unlink(b->path[i]);
    ek_list_release(&b->list);
    ek_free(b);
}

static int store(struct ek_learned_baseline *b, const void *bytes, size_t length, int64_t time_ms,
                 struct ek_error *e)
{
    b->pending++;
    return ek_message_store_add(b->store, bytes, length, time_ms, e);
}

/* Discard the messages of the current batch. */
static void discard(struct ek_learned_baseline *b)
{
    ek_message_store_truncate(b->store, b->accepted_bytes);
    b->pending = 0;
    b->offered = b->undecodable = 0;
}

/* Context of an iteration over stored messages. */
struct pass {
    struct ek_learned_baseline *b;
    void *to; /* shape, fields, fit, ... */
};

/* Call `process` with a pass for each stored message. */
static int each_stored(struct ek_learned_baseline *b, ek_stored_fn *process, void *to,
                       struct ek_error *e)
{
    struct pass pass = {b, to};
    return ek_message_store_each(b->store, process, &pass, e);
}

/* Decode a message into b->list. *is_list is false for a message that is no list, whose reason is
 * kept for the first one. */
static int decode(struct ek_learned_baseline *b, const void *bytes, size_t length, int64_t time_ms,
                  bool *is_list, struct ek_error *e)
{
    struct ek_error why;
    int rc = ek_codec_decode(b->codec, bytes, length, &b->list, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    *is_list = !rc;
    if (rc && !*b->fields.first_fault)
        snprintf(b->fields.first_fault, sizeof b->fields.first_fault, "%s", why.message);
    if (!rc && b->list.time_ms < 0)
        b->list.time_ms = time_ms;
    return EK_OK;
}

static const char NAME_FIELDS[] = "name the fields in a configuration, and use --config";
static const char SCHEMA_NEEDED[] =
    "for Avro or Protobuf, use --config with 'message: {encoding: avro, schema: lists.avsc}', or "
    "'registry: {url: \"http://localhost:8081\"}' for the schema, and the fields that 'evenkeel "
    "inspect CAPTURE --suggest-mapping --schema lists.avsc' prints";

static int no_lists(const struct ek_learned_baseline *b, const char *why, const char *remedy,
                    struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "the messages are no lists that can be read: %s; %s", why,
                   b->given ? "correct the section 'message' of the configuration" : remedy);
}

/* Set the mapping to that of the messages so far. */
static int find_mapping(struct ek_learned_baseline *b, struct ek_error *e)
{
    if (2 * b->undecodable > b->offered)
        return no_lists(b, "most are neither JSON nor a MessagePack map", SCHEMA_NEEDED, e);
    int rc = ek_draft_mapping(b->draft, &b->mapping, e);
    if (rc)
        return rc;
    if (b->mapping.layout == EK_LAYOUT_ITEM)
        return no_lists(b, "each message is one item", NAME_FIELDS, e);
    b->mapped = true;
    return EK_OK;
}

/* Add a message before the manifest is known. */
static int sample(struct ek_learned_baseline *b, const void *bytes, size_t length, int64_t time_ms,
                  enum ek_learned_step *step, struct ek_error *e)
{
    struct ek_error unwanted;
    b->offered++;
    int rc = b->mapped ? EK_OK : ek_draft_add(b->draft, bytes, length, &unwanted);
    if (rc == EK_ENOMEM)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    b->undecodable += rc != EK_OK;
    rc = rc ? EK_OK : store(b, bytes, length, time_ms, e);
    if (!rc && !b->mapped && b->offered >= SAMPLE) {
        rc = find_mapping(b, e);
        *step = EK_LEARNED_MAPPED;
    }
    return rc;
}

static int add_to_shape(void *context, const struct ek_buf *message, int64_t time_ms,
                        struct ek_error *e)
{
    const struct pass *pass = context;
    struct ek_learned_baseline *b = pass->b;
    struct ek_error why;
    (void)time_ms;
    int rc = ek_shape_add(pass->to, message->data, message->length, &why);
    if (rc == EK_EFORMAT) {
        if (!*b->fields.first_fault)
            snprintf(b->fields.first_fault, sizeof b->fields.first_fault, "%s", why.message);
        return EK_OK;
    }
    if (rc)
        *e = why;
    return rc;
}

/* Write the manifest of the stored messages, and read it. */
static int make_manifest(struct ek_learned_baseline *b, struct ek_error *e)
{
    const char *path = b->path[EK_LEARNED_MANIFEST];
    struct ek_shape *shape;
    struct ek_error why;
    struct ek_buf text;
    ek_buf_init(&text, 0);
    int rc = ek_shape_new(&shape, &b->mapping, e);
    if (rc)
        return rc;
    rc = each_stored(b, add_to_shape, shape, e);
    if (!rc && ek_shape_manifest(shape, &text, &why))
        rc = no_lists(b, *b->fields.first_fault ? b->fields.first_fault : why.message, NAME_FIELDS,
                      e);
    if (!rc)
        rc = ek_file_write_bytes(path, text.data, text.length, e);
    if (!rc)
        rc = ek_manifest_load(&b->manifest, path, e);
    ek_shape_free(shape);
    ek_buf_release(&text);
    return rc;
}

static void add_dimension(struct ek_learned_fields *c, const struct ek_segment *s)
{
    struct ek_learned_dimension *d = c->dimension;
    char name[EK_LEARNED_NAME_BYTES];
    int length = (int)(s->name.length < sizeof name ? s->name.length : sizeof name - 1);
    uint64_t hash = ek_hash(s->value.text, s->value.length, 0);
    snprintf(name, sizeof name, "%.*s", length, s->name.text);
    while (d < c->dimension + c->dimensions && strcmp(d->name, name) != 0)
        d++;
    if (d == c->dimension + EK_SEGMENTS_MAX)
        return;
    if (d == c->dimension + c->dimensions) {
        c->dimensions++;
        snprintf(d->name, sizeof d->name, "%s", name);
    }
    int i = 0;
    while (i < d->values && i < EK_LEARNED_VALUES && d->hash[i] != hash)
        i++;
    if (i == d->values && i < EK_LEARNED_VALUES)
        d->hash[i] = hash;
    d->values += i == d->values && d->values <= EK_LEARNED_VALUES;
    d->lists++;
}

static int add_fields(void *context, const struct ek_buf *message, int64_t time_ms,
                      struct ek_error *e)
{
    const struct pass *pass = context;
    struct ek_learned_baseline *b = pass->b;
    struct ek_learned_fields *c = pass->to;
    const struct ek_list *q = &b->list;
    bool is_list, score = false;
    int rc = decode(b, message->data, message->length, -1, &is_list, e);
    (void)time_ms;
    c->messages++;
    c->json = c->json || ek_codec_has_json(message->data, message->length);
    if (rc || !is_list)
        return rc;
    for (int i = 0; i < q->items; i++)
        score = score || !isnan(q->score[i]);
    c->lists++;
    c->items += (uint64_t)q->items;
    c->ids += q->id.text != NULL;
    c->times += q->time_ms >= 0;
    c->scores += score;
    for (int i = 0; i < q->segment_count; i++)
        add_dimension(c, &q->segments[i]);
    return EK_OK;
}

/* Monitor dimensions with few values in most lists, such as an arm, and those whose values have
 * levels in the profile, such as markets: relative to these, smaller factors are evidence. A young
 * baseline does not know the levels of rare values. p NULL: none yet. Return whether the choice has
 * changed. */
static bool choose_dimensions(struct ek_learned_baseline *b, const struct ek_profile *p)
{
    struct ek_learned_fields *c = &b->fields;
    bool changed = false;
    int count = 0;
    for (int i = 0; i < c->dimensions; i++) {
        struct ek_learned_dimension *d = &c->dimension[i];
        bool before = d->in_rules, few = d->values <= FEW_VALUES;
        bool differ = p && ek_segment_levels_differ(p->segment_levels, d->name);
        bool usable = d->values > 1 && d->values <= EK_LEARNED_VALUES && 2 * d->lists > c->lists;
        d->in_rules =
            usable && count < EK_DIMENSIONS_MAX && (b->young ? few && !differ : few || differ);
        count += d->in_rules;
        changed = changed || d->in_rules != before;
    }
    return changed;
}

/* Write rules that report faults of the monitored dimensions, and read them. A young baseline does
 * not know yet how far the levels wander. */
static int make_rules(struct ek_learned_baseline *b, struct ek_rules **out, struct ek_error *e)
{
    const char *path = b->path[EK_LEARNED_RULES];
    const struct ek_learned_fields *c = &b->fields;
    struct ek_buf text;
    int count = 0;
    ek_buf_init(&text, RULES_BYTES);
    ek_buf_text(&text, "# Rules of `evenkeel watch` (docs/rules.md).\nversion: 1\n"
                       "# observe: report findings, change no list.\n");
    if (b->young)
        ek_buf_printf(&text,
                      "# Remove the thresholds when the profile has %d lists.\n"
                      "defaults: {mode: observe, report_threshold: %d, action_threshold: %d}\n",
                      YOUNG, LARGE, LARGE);
    else
        ek_buf_text(&text, "defaults: {mode: observe}\n");
    ek_buf_text(&text, "# Dimensions to which a fault may be confined, such as an arm of a test.\n"
                       "segments: [");
    for (int i = 0; i < c->dimensions; i++) {
        if (!c->dimension[i].in_rules)
            continue;
        ek_buf_text(&text, count++ ? ", " : "");
        ek_buf_json(&text, c->dimension[i].name, strlen(c->dimension[i].name));
    }
    ek_buf_text(&text, "]\n");
    int rc = ek_buf_string(&text) ? ek_file_write(path, (const char *)text.data, e)
                                  : ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_release(&text);
    return rc ? rc : ek_rules_load(out, b->manifest, path, e);
}

static int make_codec(struct ek_learned_baseline *b, struct ek_error *e)
{
    const struct ek_codec_limits *limits = b->given ? &b->given->limits : NULL;
    int rc = ek_codec_new(&b->codec, b->manifest, &b->mapping, limits, e);
    return rc && b->given ? ek_field_mapping_place(b->given->config, e) : rc;
}

/* Set manifest, codec, fields and rules to those of the stored messages. */
static int describe(struct ek_learned_baseline *b, struct ek_error *e)
{
    release_assets(b);
    b->fields = (struct ek_learned_fields){0};
    int rc = make_manifest(b, e);
    if (!rc)
        rc = make_codec(b, e);
    if (!rc)
        rc = each_stored(b, add_fields, &b->fields, e);
    if (!rc && 2 * b->fields.lists < b->fields.messages)
        rc = no_lists(b, b->fields.first_fault, NAME_FIELDS, e);
    b->young = b->fields.lists < YOUNG;
    if (!rc)
        choose_dimensions(b, NULL);
    return rc ? rc : make_rules(b, &b->rules, e);
}

static int add_to_halves(void *context, const struct ek_buf *message, int64_t time_ms,
                         struct ek_error *e)
{
    const struct pass *pass = context;
    struct ek_learned_baseline *b = pass->b;
    bool is_list;
    int rc = decode(b, message->data, message->length, time_ms, &is_list, e);
    return !rc && is_list ? ek_profile_halves_add(pass->to, &b->list, e) : rc;
}

/* Return whether no healthy level wanders that far. */
static bool is_large(enum ek_class class, double factor)
{
    return class != EK_SCALE || !(fabs(log(factor)) < log(LARGE));
}

/* Append a change to those of `b->change`. segment: name and value, NULL for all traffic. */
static void append_change(struct ek_learned_baseline *b, int feature, enum ek_class class,
                          double factor, const char *dimension, const char *value)
{
    size_t length = strlen(b->change), room = sizeof b->change - length;
    char by[40] = "", in[EK_LEARNED_NAME_BYTES] = "";
    if (!isnan(factor))
        snprintf(by, sizeof by, " x%.3g", factor);
    if (dimension)
        snprintf(in, sizeof in, " in %s=%s", dimension, value ? value : "(other)");
    snprintf(b->change + length, room, "%s'%s' changes (%s%s)%s", length ? ", " : "",
             b->manifest->item[feature]->name, ek_class_name(class), by, in);
}

/* Set the reason to the change and its times; until_ms -1: it is open. */
static void set_reason(struct ek_learned_baseline *b, int64_t until_ms)
{
    char from[EK_DATE_TEXT], to[EK_DATE_TEXT];
    ek_date_text(b->change_ms, from);
    ek_date_text(until_ms, to);
    if (b->change_ms < 0)
        snprintf(b->reason, sizeof b->reason, "%s", b->change);
    else if (until_ms < 0)
        snprintf(b->reason, sizeof b->reason, "%s since %s", b->change, from);
    else
        snprintf(b->reason, sizeof b->reason, "%s from %s to %s", b->change, from, to);
}

/* Set *calm to the lists of the first batch before its halves differ, or all of them; b->reason has
 * the changes. */
static int compare_halves(struct ek_learned_baseline *b, uint64_t *calm, struct ek_error *e)
{
    struct ek_profile_halves *halves;
    int rc = ek_profile_halves_new(&halves, b->manifest, NULL, b->fields.lists, e);
    *calm = b->fields.lists;
    if (rc)
        return rc;
    rc = each_stored(b, add_to_halves, halves, e);
    *b->change = 0;
    for (int f = 0; !rc && f < b->manifest->watched_count; f++) {
        const struct ek_halves_change *c = ek_profile_halves_change(halves, f);
        if (!c || !is_large(c->class, c->factor))
            continue;
        append_change(b, f, c->class, c->factor, NULL, NULL);
        if (c->since < *calm)
            b->change_ms = c->since_ms;
        *calm = c->since < *calm ? c->since : *calm;
    }
    set_reason(b, -1);
    ek_profile_halves_free(halves);
    return rc;
}

static int add_to_fit(void *context, const struct ek_buf *message, int64_t time_ms,
                      struct ek_error *e)
{
    const struct pass *pass = context;
    struct ek_learned_baseline *b = pass->b;
    bool is_list;
    int rc = decode(b, message->data, message->length, time_ms, &is_list, e);
    return !rc && is_list ? ek_profile_fit_add(pass->to, &b->list, e) : rc;
}

static int fit(struct ek_learned_baseline *b, struct ek_profile **out, struct ek_error *e)
{
    struct ek_profile_fit *fit;
    int rc = ek_profile_fit_new(&fit, b->manifest, NULL, e);
    if (rc)
        return rc;
    rc = each_stored(b, add_to_fit, fit, e);
    if (!rc)
        rc = ek_profile_fit_finish(fit, out, e);
    ek_profile_fit_free(fit);
    return rc;
}

static uint64_t lists_max(const struct ek_learned_baseline *b)
{
    uint64_t most = b->limits.fit_bytes / (STATS_BYTES * (uint64_t)b->manifest->watched_count + 1);
    return most < b->limits.lists ? most : b->limits.lists;
}

/* Use a profile of all stored messages, which the baseline then owns, with a detector. */
static void take_profile(struct ek_learned_baseline *b, struct ek_profile *profile,
                         struct ek_detector *detector)
{
    ek_detector_free(b->detector);
    ek_profile_free(b->profile);
    b->profile = profile;
    b->detector = detector;
    b->accepted = profile->queries;
    b->accepted_bytes = ek_message_store_bytes(b->store);
    b->pending = b->read = b->resumed = b->kept = 0;
    b->open = 0;
    b->open_since = UINT64_MAX;
    b->discarding = b->daily = false;
    b->complete = b->complete || b->accepted >= lists_max(b);
}

/* Replace the rules if dimensions differ in a profile or the baseline is no longer young. The
 * detector uses the former ones, and is freed. */
static int renew_rules(struct ek_learned_baseline *b, const struct ek_profile *p,
                       struct ek_error *e)
{
    struct ek_rules *rules;
    bool was_young = b->young;
    b->young = p->queries < YOUNG;
    if (!choose_dimensions(b, p) && b->young == was_young)
        return EK_OK;
    int rc = make_rules(b, &rules, e);
    if (rc)
        return rc;
    ek_detector_free(b->detector);
    b->detector = NULL;
    ek_rules_free(b->rules);
    b->rules = rules;
    return EK_OK;
}

/* Make the profile of all stored messages, and a detector for the next batch. */
static int accept(struct ek_learned_baseline *b, struct ek_error *e)
{
    struct ek_profile *profile = NULL;
    struct ek_detector *detector = NULL;
    int rc = fit(b, &profile, e);
    if (!rc)
        rc = ek_profile_save(profile, b->path[EK_LEARNED_PROFILE], e);
    if (!rc)
        rc = renew_rules(b, profile, e);
    if (!rc)
        ek_profile_choose_segments(profile, b->rules->segment, b->rules->segment_count);
    if (!rc)
        rc = ek_detector_new(&detector, b->manifest, profile, b->rules, e);
    if (rc)
        ek_profile_free(profile);
    else
        take_profile(b, profile, detector);
    return rc;
}

/* Discard the messages of the batch after the first `lists` ones. */
static int remove_after(struct ek_learned_baseline *b, uint64_t lists, struct ek_error *e)
{
    if (lists >= b->pending)
        return EK_OK;
    b->pending = lists;
    return ek_message_store_remove_after(b->store, b->accepted_bytes, lists, e);
}

static uint64_t before_change(uint64_t list)
{
    return list > MARGIN ? list - MARGIN : 0;
}

/* Discard the lists of the first batch since a change, the first of which is `calm`. If the change
 * lasts, the lists before it are discarded instead, as the baseline is that of the present. */
static int refuse_first(struct ek_learned_baseline *b, uint64_t calm, enum ek_learned_step *step,
                        struct ek_error *e)
{
    bool again = b->lost > 0;
    b->lost += b->pending - before_change(calm);
    if (b->lost > PATIENCE * b->limits.first) {
        b->lost = 0;
        discard(b);
    } else if (remove_after(b, before_change(calm), e)) {
        return (int)e->code;
    }
    *step = again && b->lost ? EK_LEARNED_MORE : EK_LEARNED_REFUSED;
    return EK_OK;
}

/* End the first batch. */
static int end_first(struct ek_learned_baseline *b, enum ek_learned_step *step, struct ek_error *e)
{
    uint64_t calm = 0;
    int rc = b->mapped ? EK_OK : find_mapping(b, e);
    if (!rc)
        rc = describe(b, e);
    if (!rc)
        rc = compare_halves(b, &calm, e);
    if (!rc && calm < b->fields.lists)
        return refuse_first(b, calm, step, e);
    *step = EK_LEARNED_PROFILED;
    return rc ? rc : accept(b, e);
}

/* Return the number of pending lists before one that the detector has read. */
static uint64_t pending_before(const struct ek_learned_baseline *b, uint64_t list)
{
    return list < b->resumed ? b->kept : list - b->resumed + b->kept;
}

/* Discard the lists since the open findings began, and those until their end. */
static int refuse(struct ek_learned_baseline *b, enum ek_learned_step *step, struct ek_error *e)
{
    if (!*b->change) {
        snprintf(b->change, sizeof b->change, "a change is suspected");
        b->change_ms = -1;
    }
    b->discarding = true;
    set_reason(b, -1);
    *step = EK_LEARNED_REFUSED;
    return remove_after(b, before_change(pending_before(b, b->open_since)), e);
}

/* Return whether a finding is no fluctuation, which the profile must learn. */
static bool is_fault(const struct ek_finding *f)
{
    if (f->class == EK_MISSING || f->class == EK_ZERO)
        return fabs(f->value_share - f->trained_share) > LARGE_SHARE;
    return is_large(f->class, f->factor);
}

/* Take a confirmed finding: remember a fault, and discard its lists unless it returns daily. */
static int take_confirmed(struct ek_learned_baseline *b, const struct ek_finding *f,
                          enum ek_learned_step *step, struct ek_error *e)
{
    bool fault = is_fault(f),
         daily = fault && ek_daily_changes_has(&b->past, f->feature, f->class, f->since_ms);
    if (fault)
        ek_daily_changes_add(&b->past, f->feature, f->class, f->since_ms);
    if (b->discarding)
        return remove_after(b, before_change(pending_before(b, b->open_since)), e);
    *b->change = 0;
    append_change(b, f->feature, f->class, f->factor, f->dimension, f->value);
    b->change_ms = f->since_ms;
    if (fault && !daily)
        return refuse(b, step, e);
    if (daily && !b->daily) {
        b->daily = true;
        set_reason(b, -1);
        *step = EK_LEARNED_DAILY;
    }
    return EK_OK;
}

static void end_change(struct ek_learned_baseline *b, enum ek_learned_step *step)
{
    if (b->discarding) {
        set_reason(b, b->list.time_ms);
        b->resumed = b->read;
        b->kept = b->pending;
        *step = EK_LEARNED_RESUMED;
    }
    *b->change = 0;
    b->discarding = b->daily = false;
    b->open_since = UINT64_MAX;
}

/* Follow the findings of the detector. */
static int read_findings(struct ek_learned_baseline *b, enum ek_learned_step *step,
                         struct ek_error *e)
{
    struct ek_finding f;
    int rc = EK_OK;
    while (!rc && ek_detector_next(b->detector, &f)) {
        bool over = ek_finding_is_over(f.state);
        b->open += f.state == EK_SUSPECTED;
        b->open -= over && b->open > 0;
        if (over)
            ek_daily_changes_end(&b->past, f.feature, b->list.time_ms);
        else if (f.since_query < b->open_since)
            b->open_since = f.since_query;
        if (f.state == EK_CONFIRMED)
            rc = take_confirmed(b, &f, step, e);
    }
    if (!b->open)
        end_change(b, step);
    return rc;
}

static int end_batch(struct ek_learned_baseline *b, enum ek_learned_step *step, struct ek_error *e)
{
    *step = EK_LEARNED_PROFILED;
    return accept(b, e);
}

/* Add a message to a later batch. */
static int extend(struct ek_learned_baseline *b, const void *bytes, size_t length, int64_t time_ms,
                  enum ek_learned_step *step, struct ek_error *e)
{
    bool is_list;
    int rc = decode(b, bytes, length, time_ms, &is_list, e);
    if (rc || !is_list)
        return rc;
    rc = ek_detector_observe(b->detector, &b->list, b->list.time_ms, e);
    if (!rc)
        rc = read_findings(b, step, e);
    b->read++;
    if (rc || b->discarding)
        return rc;
    rc = store(b, bytes, length, time_ms, e);
    bool full = ek_message_store_bytes(b->store) >= b->limits.bytes ||
                b->accepted + b->pending >= lists_max(b);
    bool changed = b->open && !b->daily;
    if (!rc && changed && (full || b->pending >= 2 * b->accepted)) {
        rc = refuse(b, step, e);
    } else if (!rc && !changed && (full || b->pending >= b->accepted)) {
        b->complete = full;
        rc = end_batch(b, step, e);
    }
    return rc;
}

int ek_learned_add(struct ek_learned_baseline *b, const void *bytes, size_t length, int64_t time_ms,
                   enum ek_learned_step *step, struct ek_error *e)
{
    *step = EK_LEARNED_MORE;
    if (b->complete)
        return EK_OK;
    if (b->profile)
        return extend(b, bytes, length, time_ms, step, e);
    int rc = sample(b, bytes, length, time_ms, step, e);
    bool full =
        b->pending >= b->limits.first || ek_message_store_bytes(b->store) >= b->limits.bytes;
    return !rc && full ? end_first(b, step, e) : rc;
}

int ek_learned_end_batch(struct ek_learned_baseline *b, enum ek_learned_step *step,
                         struct ek_error *e)
{
    *step = EK_LEARNED_MORE;
    if (!b->profile && b->pending >= EK_LEARNED_FIRST_LEAST)
        return end_first(b, step, e);
    bool calm = !b->open || b->discarding;
    return b->profile && b->pending && calm ? end_batch(b, step, e) : EK_OK;
}

bool ek_learned_is_complete(const struct ek_learned_baseline *b)
{
    return b->complete;
}

bool ek_learned_is_waiting(const struct ek_learned_baseline *b)
{
    return b->open > 0;
}

uint64_t ek_learned_lists(const struct ek_learned_baseline *b)
{
    return b->accepted;
}

uint64_t ek_learned_collected(const struct ek_learned_baseline *b)
{
    return b->pending;
}

const char *ek_learned_reason(const struct ek_learned_baseline *b)
{
    return b->reason;
}

const struct ek_mapping *ek_learned_mapping(const struct ek_learned_baseline *b)
{
    return &b->mapping;
}

const struct ek_manifest *ek_learned_manifest(const struct ek_learned_baseline *b)
{
    return b->manifest;
}

const struct ek_learned_fields *ek_learned_fields(const struct ek_learned_baseline *b)
{
    return &b->fields;
}

const char *ek_learned_path(const struct ek_learned_baseline *b, enum ek_learned_file file)
{
    return b->path[file];
}

static int add_delay(const struct ek_learned_baseline *b, float factor,
                     char text[EK_LEARNED_TEXT_BYTES / 2], struct ek_error *e)
{
    const struct ek_monitored_lists m = {b->store, b->codec, b->manifest, b->profile, b->rules};
    size_t length = strlen(text), room = EK_LEARNED_TEXT_BYTES / 2 - length;
    bool reported = (double)factor >= b->rules->defaults.report_threshold;
    int lists = 0, rc = reported ? ek_detection_delay(&m, factor, &lists, e) : EK_OK;
    const char *separator = length ? "," : ":";
    if (!rc && lists)
        snprintf(text + length, room, "%s x%g after about %d", separator, (double)factor, lists);
    else if (!rc)
        snprintf(text + length, room, "%s x%g not yet", separator, (double)factor);
    return rc;
}

/* Append the features in which x2 is not found: their level moves too much in healthy lists. */
static void add_blind(const struct ek_learned_baseline *b, char text[EK_LEARNED_TEXT_BYTES / 2])
{
    const struct ek_profile *p = b->profile;
    const char *separator = "; x2 not found in: ";
    for (int f = 0; f < p->features; f++) {
        size_t length = strlen(text), room = EK_LEARNED_TEXT_BYTES / 2 - length;
        if (p->category[f].strata || ek_item_levels_has(p->item_levels, f) ||
            ek_bet_delay(&p->baseline[f], 2))
            continue;
        if (strlen(separator) + strlen(p->name[f]) + sizeof ", ..." > room) {
            snprintf(text + length, room, ", ...");
            return;
        }
        snprintf(text + length, room, "%s%s", separator, p->name[f]);
        separator = ", ";
    }
}

int ek_learned_measure(struct ek_learned_baseline *b, struct ek_error *e)
{
    *b->sharpness = 0;
    int rc = add_delay(b, 10, b->sharpness, e);
    if (!rc)
        rc = add_delay(b, 2, b->sharpness, e);
    if (!rc)
        rc = add_delay(b, 1.2F, b->sharpness, e);
    if (!rc)
        add_blind(b, b->sharpness);
    return rc;
}

void ek_learned_sharpness(const struct ek_learned_baseline *b, char text[EK_LEARNED_TEXT_BYTES])
{
    snprintf(text, EK_LEARNED_TEXT_BYTES, "%" PRIu64 " lists%s", b->accepted, b->sharpness);
}
