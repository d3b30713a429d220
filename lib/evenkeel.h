/**
 * libevenkeel: detection and mitigation of scale shifts in ranking features.
 *
 * A guard reads scored lists, compares every feature with its training statistics, and reports
 * findings as JSON events. It returns each list unchanged, or with the scores of the routable model
 * in place of the upstream scores.
 *
 *     ek_assets_load(&assets, "features.yaml", "profile.ekp", "rules.yaml", "m.safetensors", e);
 *     ek_guard_new(&guard, assets, e);
 *     for each message:
 *         if (ek_guard_observe(guard, bytes, length, now_ms, e) == 0)
 *             forward(ek_guard_score(guard, &length, e), length);
 *         while (ek_guard_next_event(guard, &json) > 0)
 *             report(json);
 *
 * With several threads, each thread has one context. It decodes and scores messages there without
 * a lock; only the update of the guard requires the caller's mutex:
 *
 *     each thread: ek_context_new(&context, assets, e);
 *     for each message of that thread:
 *         if (ek_context_decode(context, bytes, length, e) == 0) {
 *             lock(); rc = ek_guard_update(guard, context, now_ms, e); ...next events... unlock();
 *             if (rc == 0)
 *                 forward(ek_context_score(context, &length, e), length);
 *         }
 *
 * ek_guard_observe and ek_guard_score do the same with the guard's internal context.
 *
 * A list that is no message is read from arrays, and findings need no JSON:
 *
 *     struct ek_array_list list = {.features = x, .items = 20, .feature_count = 136,
 *                                  .item_stride = 136, .feature_stride = 1};
 *     if (ek_guard_observe_values(guard, &list, now_ms, e) == 0)
 *         while ((event = ek_guard_pop_event(guard)))
 *             if (ek_event_is_finding(event))
 *                 report(ek_event_feature(event), ek_event_factor(event, &low, &high));
 *
 * A training profile is made by `evenkeel profile`, or from arrays:
 *
 *     ek_profile_builder_new(&builder, "features.yaml", NULL, e);
 *     for each training list:
 *         ek_profile_builder_add(builder, &list, e);
 *     ek_profile_builder_save(builder, "profile.ekp", e);
 *
 * A guard writes its state as keyed records. A new guard continues from these records:
 *
 *     ek_guard_save(guard, 0, data, length, write, user, e);    periodically: changed records
 *     for each record, in the order written:
 *         ek_state_add(state, key, bytes, length, e);
 *     ek_guard_load(&guard, assets, state, &fit, e);
 *
 * A list must count once, even if it is redelivered after a restart or an aborted transaction.
 * Score a list that the state contains with ek_guard_peek instead of ek_guard_update. Update the
 * guard with a list that was forwarded but is not in the state, and do not score it.
 *
 * Parameters: `g` is the guard, `c` the context, `s` the state; `e` receives the error. Pointers
 * must not be NULL unless the function allows it.
 *
 * Units: times in milliseconds since 1970, factors as ratios, lengths in bytes.
 *
 * Ownership: the caller frees an object returned through `out` with the matching _free function.
 * Returned `const` pointers belong to the guard or context and are valid until its next call.
 *
 * Threads: assets are read-only and may be shared. Use a guard or context from one thread at a
 * time. No function starts threads, reads clocks, opens sockets or writes logs.
 *
 * Errors: functions return 0, or an enum ek_code and its message in `e`. `e` may be NULL. On error
 * the outputs and the guard are unchanged unless the function documents otherwise. Each function
 * with an `e` parameter may return EK_ENOMEM.
 */
#ifndef EVENKEEL_H
#define EVENKEEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result codes. */
enum ek_code {
    EK_OK = 0,
    EK_ENOMEM,  /* out of memory */
    EK_EIO,     /* error of the operating system: file, network */
    EK_EFORMAT, /* malformed data: message, LETOR line, model file */
    EK_ECONFIG, /* invalid configuration; commands exit with status 78 */
    EK_EUSAGE,  /* invalid argument; commands exit with status 2 */
    EK_ELIMIT,  /* a named limit was exceeded */
    EK_ESTATE,  /* invalid in the current state: other manifest, closed handle */
};

struct ek_error;
struct ek_assets;
struct ek_guard;
struct ek_context;
struct ek_event;
struct ek_state;
struct ek_applier;
struct ek_profile_builder;

/** Return the version of the library, such as "0.1.0". */
const char *ek_version(void);

/** Return a new error, or NULL if out of memory. The caller frees it. */
struct ek_error *ek_error_new(void);

/** Free an error. NULL is allowed. */
void ek_error_free(struct ek_error *e);

/**
 * Return the message of an error.
 *
 * @param e The error; not NULL.
 * @return `file:line:column: message` with the known parts of the position, or "" without an error.
 *     Valid until the next use of the error.
 */
const char *ek_error_message(const struct ek_error *e);

/**
 * Load the assets of a guard.
 *
 * @param out The assets; the caller frees them after all guards and contexts that use them.
 * @param manifest Path of the feature manifest.
 * @param profile Path of the training profile.
 * @param rules Path of the rules; NULL: default rules.
 * @param model Path of the routable model; NULL: the guard only observes.
 * @param e Set to the first error, with its position.
 * @return 0, or the code of the first error.
 * @retval EK_EIO A file cannot be read.
 * @retval EK_EFORMAT Invalid profile or model.
 * @retval EK_ECONFIG Invalid manifest or rules, or assets that do not match.
 * @retval EK_ELIMIT A file exceeds a limit.
 * @retval EK_ESTATE Profile or model of another manifest.
 */
int ek_assets_load(struct ek_assets **out, const char *manifest, const char *profile,
                   const char *rules, const char *model, struct ek_error *e);

/** Free assets. NULL is allowed. */
void ek_assets_free(struct ek_assets *a);

/**
 * Let guards repair feature values, as `evenkeel run` does with `output.writes: features`.
 *
 * The plan then has the repairs for ek_plan_apply, and a routable model is not used.
 *
 * @param a The assets, before the first guard or context.
 */
void ek_assets_write_features(struct ek_assets *a);

/**
 * Create a guard without state.
 *
 * @param out The guard; the caller frees it.
 * @param assets The assets; they must outlive the guard.
 * @return 0, or the code of the error.
 */
int ek_guard_new(struct ek_guard **out, const struct ek_assets *assets, struct ek_error *e);

/** Free a guard. NULL is allowed. */
void ek_guard_free(struct ek_guard *g);

/**
 * Decode one message and update the guard with it.
 *
 * @param message The message; must stay unchanged until ek_guard_score returns.
 * @param length Length of the message in bytes.
 * @param now_ms Current time, used if the message has no time.
 * @return 0, or the code of the error. On error do not call ek_guard_score for this message.
 * @retval EK_EFORMAT The message cannot be decoded; it is not counted.
 * @retval EK_ELIMIT The message exceeds a limit; it is not counted.
 * @retval EK_ENOMEM Out of memory; the list may be counted.
 */
int ek_guard_observe(struct ek_guard *g, const void *message, size_t length, int64_t now_ms,
                     struct ek_error *e);

/** Segment of a list: dimension and value, such as "arm" and "B". */
struct ek_segment_value {
    const char *name, *value;
};

/** One complete list in arrays of the caller. Unknown members are 0 or NULL. */
struct ek_array_list {
    const char *id;                         /* list id, which decides on canaries; NULL: in none */
    int64_t time_ms;                        /* time of the list; 0: unknown */
    const struct ek_segment_value *segment; /* [segments] */
    size_t segments;                        /* at most 16 */
    const float *query_features;            /* [query_count] in the order of messages */
    size_t query_count;
    const char *const *item_id; /* [items] */
    float *features;            /* item i, feature f: i * item_stride + f * feature_stride */
    size_t items, feature_count, item_stride, feature_stride; /* strides in floats */
    const double *scores; /* [items] upstream scores; NULL: unknown. ek_plan_apply: unused */
};

/**
 * Update the guard with a list in arrays.
 *
 * The list has the same findings, plan and state as in a message. There is no message to score:
 * ek_guard_score fails until the next ek_guard_observe.
 *
 * @param list The list, of which nothing is changed or kept. It has all item features of the
 *     manifest, and all query features but those that the library derives.
 * @param now_ms Current time, used if the list has no time.
 * @return 0, or the code of the error, whose message names the member. On error except EK_ENOMEM
 *     the list is not counted.
 * @retval EK_EUSAGE Invalid member: another number of features than the manifest, NULL for an array
 *     with elements, a stride of 0, a duplicate segment dimension, an invalid time.
 * @retval EK_ELIMIT Too many items or segments.
 * @retval EK_ESTATE The assets are for messages of single items.
 * @retval EK_ENOMEM Out of memory; the list may be counted.
 */
int ek_guard_observe_values(struct ek_guard *g, const struct ek_array_list *list, int64_t now_ms,
                            struct ek_error *e);

/**
 * Return the message to forward for the last observed message.
 *
 * @param length Set to the length in bytes; unchanged on error.
 * @return `message` of ek_guard_observe if the plan does not apply to it, else a copy with replaced
 *     scores or feature values. NULL on error: forward the original message.
 */
const void *ek_guard_score(struct ek_guard *g, size_t *length, struct ek_error *e);

/**
 * Return the outcome of the last ek_guard_score.
 *
 * @return "canary" or "routed": the scores are replaced. "repaired": feature values are replaced
 *     (ek_assets_write_features). "pass": unchanged, also after an error. "shadow": unchanged, a
 *     route in shadow mode applies, or a repair is withheld. "paused": unchanged, the guard is
 *     paused.
 */
const char *ek_guard_action(const struct ek_guard *g);

/** Return the version of the current plan; 0 before the first plan. */
uint64_t ek_guard_plan_version(const struct ek_guard *g);

/**
 * Return the current plan as JSON, for ek_applier_new in this or another process.
 *
 * @param length Set to the length in bytes; may be NULL, and is unchanged on error.
 * @return The body of `/api/v1/plan`, terminated. Valid until the next call of this function. NULL
 *     on error.
 */
const char *ek_guard_plan(struct ek_guard *g, size_t *length, struct ek_error *e);

/** Return the number of observed lists, including those of the restored state and merged guards. */
uint64_t ek_guard_list_count(const struct ek_guard *g);

/**
 * Create a context for one thread.
 *
 * @param out The context; the caller frees it.
 * @param assets The assets; they must outlive the context.
 * @return 0, or the code of the error.
 */
int ek_context_new(struct ek_context **out, const struct ek_assets *assets, struct ek_error *e);

/** Free a context. NULL is allowed. */
void ek_context_free(struct ek_context *c);

/**
 * Decode one message into a context.
 *
 * @param message The message; must stay unchanged until ek_context_score returns.
 * @param length Length of the message in bytes.
 * @return 0, or the code of the error. On error the context has no message.
 * @retval EK_EFORMAT The message cannot be decoded.
 * @retval EK_ELIMIT The message exceeds a limit.
 */
int ek_context_decode(struct ek_context *c, const void *message, size_t length, struct ek_error *e);

/**
 * Read a list of values into a context, in place of a message.
 *
 * @param values The list. Its strings must stay unchanged until the guard is updated; its arrays
 * are copied.
 * @return 0, or the code of the error, as ek_guard_observe_values. On error the context has no
 *     message.
 */
int ek_context_read_values(struct ek_context *c, const struct ek_array_list *list,
                           struct ek_error *e);

/**
 * Update a guard with the message of a context, and set the treatment of the message in the
 * context.
 *
 * @param c The context; each decoded message updates a guard once.
 * @param now_ms Current time, used if the message has no time.
 * @return 0, or the code of the error. On error do not call ek_context_score for this message.
 * @retval EK_ESTATE The context has no message, the message was already used, or the guard now has
 *     other assets. In the last case decode the message again with a context of these assets.
 * @retval EK_ENOMEM Out of memory; the list may be counted.
 */
int ek_guard_update(struct ek_guard *g, struct ek_context *c, int64_t now_ms, struct ek_error *e);

/**
 * Set the treatment of the message of a context from the current plan, without updating the guard.
 *
 * @return 0, or the code of the error, as ek_guard_update.
 */
int ek_guard_peek(const struct ek_guard *g, struct ek_context *c, struct ek_error *e);

/**
 * Return the message to forward for the message of a context.
 *
 * Uses the plan of the last ek_guard_update or ek_guard_peek. Needs no guard.
 *
 * @param length Set to the length in bytes; unchanged on error.
 * @return `message` of ek_context_decode if the plan does not apply to it, else a copy with
 *     replaced scores or feature values. NULL on error: forward the original message.
 */
const void *ek_context_score(struct ek_context *c, size_t *length, struct ek_error *e);

/** Return the outcome of the last ek_context_score; values as in ek_guard_action. */
const char *ek_context_action(const struct ek_context *c);

/** Return the plan version of the last ek_guard_update or ek_guard_peek. */
uint64_t ek_context_plan_version(const struct ek_context *c);

/**
 * Advance event time without a message, so that minimum durations expire.
 *
 * Call about once per second. A step back or a step of more than one day does not advance event
 * time.
 *
 * @param now_ms Current time, of the same clock as in ek_guard_observe and ek_guard_update.
 * @return 0, or the code of the error.
 */
int ek_guard_advance(struct ek_guard *g, int64_t now_ms, struct ek_error *e);

/**
 * Return the oldest pending event and remove it.
 *
 * The guard retains 4,096 pending events and then drops the oldest.
 *
 * @param json Set to one JSON object without a line end.
 * @return 1 with an event, 0 without, -1 if out of memory; the event then stays pending.
 */
int ek_guard_next_event(struct ek_guard *g, const char **json);

/**
 * Return the oldest pending event and remove it, as ek_guard_next_event, but not as JSON.
 *
 * @return The event, valid until the next event of this guard; NULL: none is pending.
 */
const struct ek_event *ek_guard_pop_event(struct ek_guard *g);

/** Return whether the event is a finding; the functions below are for findings. */
int ek_event_is_finding(const struct ek_event *v);

/**
 * Return the state of a finding.
 *
 * @return "suspected", "confirmed", "updated", "dismissed" or "recovered"; NULL for other events.
 */
const char *ek_event_state(const struct ek_event *v);

/** Return the number of a finding, equal in all its events; 0 for other events. */
uint32_t ek_event_finding_number(const struct ek_event *v);

/** Return the name of the feature of a finding; NULL for other events. */
const char *ek_event_feature(const struct ek_event *v);

/** Return the segment dimension of a finding; NULL: all traffic, or another event. */
const char *ek_event_segment(const struct ek_event *v);

/** Return the segment value of a finding; NULL without a segment dimension. */
const char *ek_event_segment_value(const struct ek_event *v);

/** Return the class of a finding, such as "scale"; NULL while suspected, and for other events. */
const char *ek_event_class(const struct ek_event *v);

/**
 * Return the factor of a finding.
 *
 * @param low Set to the lower end of the 95% interval; may be NULL.
 * @param high Set to the upper end; may be NULL.
 * @return The factor; NaN, as the interval, for a class without a factor and other events.
 */
double ek_event_factor(const struct ek_event *v, double *low, double *high);

/** Return the fraction of lists in the segment that are affected, 0 to 1; NaN while suspected and
 * for other events. */
double ek_event_fraction(const struct ek_event *v);

/**
 * Return the start of a finding.
 *
 * @param list Set to the number of its first list, from 0; may be NULL.
 * @return The event time in milliseconds; -1 for other events.
 */
int64_t ek_event_since(const struct ek_event *v, uint64_t *list);

/** Return the most likely unit of a finding, such as "cents"; NULL: none. */
const char *ek_event_unit(const struct ek_event *v);

/** Return the action of the rules on a finding, such as "repair"; NULL for other events. */
const char *ek_event_action(const struct ek_event *v);

/** Return the mode of the rules for a finding, such as "observe"; NULL for other events. */
const char *ek_event_mode(const struct ek_event *v);

/**
 * Write one record of a checkpoint.
 *
 * @param user Pointer of the caller, from ek_guard_save.
 * @param key Key of the record, at most 39 bytes, terminated. Valid until the function returns.
 * @param bytes The record; NULL: delete the record of this key, which is optional. Valid until the
 *     function returns.
 * @param length Length of the record in bytes.
 * @return 0, or another value to abort the checkpoint.
 */
typedef int (*ek_write_fn)(void *user, const char *key, const void *bytes, size_t length);

/**
 * Accept the current level of a feature in a segment as normal.
 *
 * The confirmed finding and its route end. The accepted level is not reported again in any segment.
 *
 * @param feature Name of the feature.
 * @param segment Segment dimension; NULL: all traffic.
 * @param value Segment value; "(other)": all values without separate statistics.
 * @param author User for the event, at most 64 bytes; NULL: not given.
 * @param reason Reason for the event, at most 500 bytes; NULL: not given.
 * @param version Set to the version for ek_guard_revert; may be NULL.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE Unknown feature or segment, or a string is too long.
 * @retval EK_ESTATE No confirmed finding that an accept ends, or the guard is an instance of a
 *     fleet; the message names the remedy.
 * @retval EK_ELIMIT Too many accepted levels.
 * @retval EK_ENOMEM Out of memory; the command may be applied without all of its events.
 */
int ek_guard_accept(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                    const char *author, const char *reason, uint64_t *version, struct ek_error *e);

/**
 * Revert an accept; its fault is detected again.
 *
 * @param version Version from ek_guard_accept.
 * @param author As ek_guard_accept.
 * @param reason As ek_guard_accept.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE A string is too long.
 * @retval EK_ESTATE Unknown version, or the guard is an instance of a fleet.
 * @retval EK_ENOMEM Out of memory; the command may be applied without all of its events.
 */
int ek_guard_revert(struct ek_guard *g, uint64_t version, const char *author, const char *reason,
                    struct ek_error *e);

/**
 * Pin the action of a feature in a segment, independent of findings and mode.
 *
 * The pin applies from the next list. It replaces a pin of the same segment, and a pin of a segment
 * takes precedence over a pin of all traffic.
 *
 * @param feature Name of the feature.
 * @param segment Segment dimension; NULL: all traffic.
 * @param value Segment value; "(other)": all values without separate statistics.
 * @param action Name of the action; "none" prevents all actions.
 * @param until_ms End of the pin in event time; 0: no end.
 * @param author As ek_guard_accept.
 * @param reason As ek_guard_accept.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE Unknown feature, segment or action, an action that the feature cannot have, an
 *     end in the past, or a string is too long.
 * @retval EK_ESTATE No model for the action, or the guard is an instance of a fleet.
 * @retval EK_ELIMIT Too many pins or segment values.
 * @retval EK_ENOMEM Out of memory; the command may be applied without all of its events.
 */
int ek_guard_pin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                 const char *action, int64_t until_ms, const char *author, const char *reason,
                 struct ek_error *e);

/**
 * Remove a pin.
 *
 * @param feature Name of the feature.
 * @param segment Segment dimension; NULL: all traffic.
 * @param value Segment value; "(other)": all values without separate statistics.
 * @param author As ek_guard_accept.
 * @param reason As ek_guard_accept.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE Unknown feature or segment, or a string is too long.
 * @retval EK_ESTATE No pin, only a pin of the rules (the message names its position), or the guard
 *     is an instance of a fleet.
 * @retval EK_ENOMEM Out of memory; the command may be applied without all of its events.
 */
int ek_guard_unpin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                   const char *author, const char *reason, struct ek_error *e);

/**
 * Pause: use an empty plan from the next list, independent of findings and pins.
 *
 * Canaries do not grow while paused. A call while paused has no effect and no event.
 *
 * @param author As ek_guard_accept.
 * @param reason As ek_guard_accept.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE A string is too long.
 * @retval EK_ENOMEM Out of memory; the command may be applied without all of its events.
 */
int ek_guard_pause(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e);

/**
 * End a pause. A call without a pause has no effect and no event.
 *
 * @param author As ek_guard_accept.
 * @param reason As ek_guard_accept.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE A string is too long.
 * @retval EK_ENOMEM Out of memory; the command may be applied without all of its events.
 */
int ek_guard_resume(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e);

/**
 * Restart a route that a guardrail rolled back, or end a route that waits for manual recovery.
 *
 * With `recover: manual` in the rules, a route waits for this call after its fault has cleared.
 *
 * @param feature Name of the feature.
 * @param segment Segment dimension; NULL: all traffic.
 * @param value Segment value; "(other)": all values without separate statistics.
 * @param author As ek_guard_accept.
 * @param reason As ek_guard_accept.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE Unknown feature or segment, or a string is too long.
 * @retval EK_ESTATE No such route, or the guard is an instance of a fleet.
 * @retval EK_ENOMEM Out of memory; the command may be applied without all of its events.
 */
int ek_guard_resume_route(struct ek_guard *g, const char *feature, const char *segment,
                          const char *value, const char *author, const char *reason,
                          struct ek_error *e);

/**
 * Write a checkpoint: records of at most 260 KiB, then the checkpoint header
 * (docs/dev/formats/state.md).
 *
 * After an error during writing the next checkpoint is full. If the caller loses records that
 * `write` accepted, the next call must set `full`.
 *
 * @param full 0: write only the parts that changed since the last checkpoint. The first checkpoint
 *     of a guard is always full.
 * @param user_data Data of the caller for the header; ek_state_note returns it.
 * @param user_data_length Length in bytes, at most 64 KiB.
 * @param write Called for each record.
 * @param user First argument of `write`.
 * @return 0, or the code of the error.
 * @retval EK_ESTATE `write` failed.
 * @retval EK_ELIMIT The user data or a part of the state is too large.
 */
int ek_guard_save(struct ek_guard *g, int full, const void *user_data, size_t user_data_length,
                  ek_write_fn write, void *user, struct ek_error *e);

/**
 * Create an empty set of checkpoint records.
 *
 * @param out The state; the caller frees it.
 * @return 0, or EK_ENOMEM.
 */
int ek_state_new(struct ek_state **out, struct ek_error *e);

/** Free a state and its records. NULL is allowed. */
void ek_state_free(struct ek_state *s);

/**
 * Add one record to a state.
 *
 * Add checkpoints in the order written. The records of one checkpoint may have any order, but its
 * header must be last.
 *
 * @param key Key of the record.
 * @param bytes The record, which is copied; NULL: the record was deleted.
 * @param length Length of the record in bytes.
 * @return 0, or the code of the error.
 * @retval EK_EFORMAT Not a record of a state; the state is unchanged.
 */
int ek_state_add(struct ek_state *s, const char *key, const void *bytes, size_t length,
                 struct ek_error *e);

/** Return the number of the last complete checkpoint, from 1; 0: none. */
uint64_t ek_checkpoint_number(const struct ek_state *s);

/** Return the number of observed lists in the last complete checkpoint; 0 without one. */
uint64_t ek_state_list_count(const struct ek_state *s);

/**
 * Return the user data that ek_guard_save stored in the last complete checkpoint.
 *
 * @param length Set to the length in bytes.
 * @return The user data, or NULL. Valid until the next header is added.
 */
const void *ek_state_note(const struct ek_state *s, size_t *length);

/** Result of restoring a state. */
enum ek_restore_result {
    EK_RESTORE_NONE,           /* no checkpoint header; ek_guard_load fails */
    EK_RESTORE_FULL,           /* complete */
    EK_RESTORE_PREVIOUS,       /* complete, from an earlier checkpoint than the last */
    EK_RESTORE_COUNTERS_ONLY,  /* other profile or segments: sketches and counts only */
    EK_RESTORE_OTHER_MANIFEST, /* ek_guard_load fails with this and all values below */
    EK_RESTORE_INCOMPLETE,     /* records that the header names are missing or differ */
    EK_RESTORE_DAMAGED,
    EK_RESTORE_OTHER_VERSION /* of the file format */
};

/** Return the name of a result: "none", "full", "previous", ... */
const char *ek_restore_result_name(enum ek_restore_result fit);

/**
 * Create a guard from a state.
 *
 * @param out The guard; the caller frees it.
 * @param assets The assets; they must outlive the guard.
 * @param state The state; may be freed after the call.
 * @param fit Set to the result, also on error except EK_ENOMEM.
 * @return 0, or the code of the error.
 * @retval EK_ESTATE No state, or a state of another manifest or format version.
 * @retval EK_EFORMAT The state is incomplete or damaged.
 */
int ek_guard_load(struct ek_guard **out, const struct ek_assets *assets,
                  const struct ek_state *state, enum ek_restore_result *fit, struct ek_error *e);

/**
 * Replace rules, profile and model of a guard from the next list.
 *
 * The plan and open findings follow the new rules at once; changes are reported as events.
 * Decode messages again that were decoded with the previous assets and not yet used. A message that
 * updated the guard may still be scored with its context; ek_guard_score fails until the next
 * message. The previous assets may be freed when no context uses them. An instance of a fleet must
 * join it again.
 *
 * @param assets The new assets, of the same manifest; they must outlive the guard.
 * @param fit Set to the extent of the restored state, as ek_guard_load.
 * @return 0, or the code of the error; the guard is then unchanged.
 * @retval EK_ESTATE The manifest or the message layout differs.
 */
int ek_guard_set_assets(struct ek_guard *g, const struct ek_assets *assets,
                        enum ek_restore_result *fit, struct ek_error *e);

/**
 * Merge the state of another guard with the same assets.
 *
 * Sketches and counts add exactly. Evidence, open findings, plans and the list history are joined.
 * Of two findings for the same feature and segment one continues; the other is reported as
 * dismissed.
 *
 * @param into The guard to change.
 * @param from The guard to read.
 * @return 0, or EK_ENOMEM; both guards must then be freed.
 */
int ek_guard_merge(struct ek_guard *into, struct ek_guard *from, struct ek_error *e);

/**
 * Read a plan.
 *
 * @param out The applier; the caller frees it.
 * @param json An object with the array `entries`: the body of `/api/v1/plan`, or the records of the
 *     plan topic in an array.
 * @param length Length in bytes.
 * @return 0, or the code of the error.
 * @retval EK_EFORMAT Not a plan; the message has the position.
 * @retval EK_ELIMIT More than 1,024 entries or 512 modes.
 */
int ek_applier_new(struct ek_applier **out, const char *json, size_t length, struct ek_error *e);

/** Free an applier. NULL is allowed. */
void ek_applier_free(struct ek_applier *a);

/**
 * Repair the feature values of a list, as `evenkeel run` does with `output.writes: features`.
 *
 * The values are bit for bit those of a repaired message with float32 features, unless the plan
 * also repairs a query feature that is their divisor or moves their usual level: query features are
 * read as they are. Entries that route are not applied, and a list without an id is in no canary.
 *
 * @param a The applier; one thread at a time.
 * @param list The list; `features` is changed in place. NaN is a missing value.
 * @param changed Set to the number of changed values; may be NULL.
 * @return 0, or the code of the error.
 * @retval EK_EUSAGE The arrays lack a feature of the plan, or a member is too large; no value is
 *     changed.
 * @retval EK_ENOMEM Out of memory; some features may be repaired.
 */
int ek_plan_apply(struct ek_applier *a, const struct ek_array_list *list, size_t *changed,
                  struct ek_error *e);

/**
 * Start a training profile of lists in arrays.
 *
 * Memory: 16 bytes per list and item feature, plus the sketches.
 *
 * @param out The builder; the caller frees it.
 * @param manifest Path of the feature manifest.
 * @param stratify_by Segment dimension or query feature that defines the strata; NULL: one stratum.
 * @return 0, or the code of the error.
 * @retval EK_EIO The manifest cannot be read.
 * @retval EK_ECONFIG Invalid manifest.
 */
int ek_profile_builder_new(struct ek_profile_builder **out, const char *manifest,
                           const char *stratify_by, struct ek_error *e);

/** Free a builder. NULL is allowed. */
void ek_profile_builder_free(struct ek_profile_builder *b);

/**
 * Add a list to a profile.
 *
 * @param list The list, of which nothing is changed or kept; as for ek_guard_observe_values.
 * @return 0, or the code of the error. On EK_ENOMEM the builder must be freed, on another error the
 *     list is not added.
 * @retval EK_EUSAGE Invalid member, as in ek_guard_observe_values.
 * @retval EK_ELIMIT Too many items, segments or strata.
 * @retval EK_ESTATE The profile was already saved.
 */
int ek_profile_builder_add(struct ek_profile_builder *b, const struct ek_array_list *list,
                           struct ek_error *e);

/**
 * Write the profile of the added lists, the file that `evenkeel profile` makes of the same lists.
 *
 * No lists can be added afterwards, but the profile may be written again.
 *
 * @param path Path of the profile, which is replaced as a whole.
 * @return 0, or the code of the error.
 * @retval EK_EIO The file cannot be written.
 * @retval EK_ESTATE No list was added, or no list has the field of the strata; the builder must be
 *     freed.
 */
int ek_profile_builder_save(struct ek_profile_builder *b, const char *path, struct ek_error *e);

#ifdef __cplusplus
}
#endif

#endif
