/* libevenkeel: keeps rankings on an even keel when the scale of a feature shifts.
 *
 * A guard reads scored lists one by one, watches every feature against its training statistics,
 * names what happened, and gives back each list either byte for byte or with the scores of the
 * routable model in place of the upstream ones.
 *
 *     ek_assets_load(&assets, "features.yaml", "profile.ekp", "rules.yaml", "m.safetensors", e);
 *     ek_guard_new(&guard, assets, e);
 *     for each message:
 *         if (ek_guard_observe(guard, bytes, length, now_ms, e) == 0)
 *             forward(ek_guard_score(guard, &length, e), length);
 *         while (ek_guard_next_event(guard, &json) > 0)
 *             tell(json);
 *
 * With several threads each has a context of its own. It reads a message there, hands it to the
 * guard one thread after the other (a mutex of the caller), and scores it outside again:
 *
 *     each thread: ek_context_new(&context, assets, e);
 *     for each message of that thread:
 *         if (ek_context_decode(context, bytes, length, e) == 0) {
 *             lock(); rc = ek_guard_update(guard, context, now_ms, e); ...next events... unlock();
 *             if (rc == 0)
 *                 forward(ek_context_score(context, &length, e), length);
 *         }
 *
 * ek_guard_observe and ek_guard_score are the same with a context that the guard has.
 *
 * A guard that is stopped goes on where it was from what it saved, as keyed records:
 *
 *     ek_guard_save(guard, 0, data, length, write, user, e);    now and then: what has changed
 *     for each record, as it was written:
 *         ek_state_add(state, key, bytes, length, e);
 *     ek_guard_load(&guard, assets, state, &fit, e);
 *
 * Lists that come again after that, or after a transaction that was given up, are not to count
 * twice: those that the state has seen are scored with ek_guard_peek in place of ek_guard_update;
 * those that were forwarded but are not in it are taken, and not scored.
 *
 * Units: times in milliseconds since 1970, factors as plain ratios, lengths in bytes.
 * Ownership: what a function gives through `out` is the caller's, to be given back by the matching
 * _free; `const` pointers that are returned belong to the guard and live until its next call.
 * Threads: assets are read-only and may be shared; a guard, and a context, belong to one
 * thread at a time.
 * Errors: 0 is success; anything else is a code whose text the error holds. NULL errors are
 * allowed. No function starts threads, reads clocks, opens sockets or writes logs.
 */
#ifndef EVENKEEL_H
#define EVENKEEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ek_code {
    EK_OK = 0,
    EK_ENOMEM,  /* memory could not be had */
    EK_EIO,     /* the operating system said no: file, network */
    EK_EFORMAT, /* data that cannot be read: message, LETOR line, model file */
    EK_ECONFIG, /* configuration that cannot be used; commands exit with 78 */
    EK_EUSAGE,  /* wrong call of a command or function; commands exit with 2 */
    EK_ELIMIT,  /* a named limit was exceeded */
    EK_ESTATE,  /* not possible now: wrong manifest, model without tensors, closed handle */
};

struct ek_error;
struct ek_assets;
struct ek_guard;
struct ek_context;
struct ek_state;

/* Version of the library, "0.1.0". */
const char *ek_version(void);

/* An error to pass around; NULL without memory. */
struct ek_error *ek_error_new(void);
void ek_error_free(struct ek_error *e);
/* `file:line:column: message` as far as known, or "" when nothing failed. Valid until the next use
 * of the error. */
const char *ek_error_message(const struct ek_error *e);

/* Reads what a guard needs. `rules` and `model` may be NULL: built-in rules, and a guard that
 * observes only. Fails with the place of the first fault; *out is untouched then. */
int ek_assets_load(struct ek_assets **out, const char *manifest, const char *profile,
                   const char *rules, const char *model, struct ek_error *e);
void ek_assets_free(struct ek_assets *a);

/* A guard with nothing seen yet. The assets must outlive it. */
int ek_guard_new(struct ek_guard **out, const struct ek_assets *assets, struct ek_error *e);
void ek_guard_free(struct ek_guard *g);

/* Reads one message and takes it into account. `message` must stay unchanged until ek_guard_score.
 * now_ms stands in where the message has no time. On failure (a message that cannot be read)
 * nothing was counted, and ek_guard_score must not be called for it. */
int ek_guard_observe(struct ek_guard *g, const void *message, size_t length, int64_t now_ms,
                     struct ek_error *e);

/* The bytes to forward for the message last observed: `message` itself when the plan has nothing
 * for it, else a copy with the scores replaced. NULL on failure (*length is then untouched):
 * forward the message as it came. */
const void *ek_guard_score(struct ek_guard *g, size_t *length, struct ek_error *e);

/* What ek_guard_score did: "pass", "canary" or "routed", the last two with other scores; "shadow"
 * when it would have, and "paused" while a person has all pass. */
const char *ek_guard_action(const struct ek_guard *g);
/* Version of the plan that the last message was scored under; 0 before the first plan. */
uint64_t ek_guard_plan_version(const struct ek_guard *g);
/* Queries observed in its life: by the guards whose state it has, too. */
uint64_t ek_guard_list_count(const struct ek_guard *g);

/* A context for one thread. The assets must outlive it. */
int ek_context_new(struct ek_context **out, const struct ek_assets *assets, struct ek_error *e);
void ek_context_free(struct ek_context *c);
/* Reads one message into the context; `message` must stay unchanged until ek_context_score. On
 * failure (a message that cannot be read) the context has none. */
int ek_context_decode(struct ek_context *c, const void *message, size_t length, struct ek_error *e);
/* Takes the message of the context into account, once, and notes in the context what the plan has
 * for it; now_ms as for ek_guard_observe. EK_ESTATE when there is none or it was taken, or when the
 * guard has other assets than the context by now: then it is still there, but only good to be read
 * again. On failure ek_context_score must not be called for it. */
int ek_guard_update(struct ek_guard *g, struct ek_context *c, int64_t now_ms, struct ek_error *e);
/* As ek_guard_update, but the message is not taken into account: it gets what the plan has now for
 * lists of its segments. */
int ek_guard_peek(const struct ek_guard *g, struct ek_context *c, struct ek_error *e);
/* As ek_guard_score, for the message of the context and the plan that it was taken under; needs the
 * context alone. */
const void *ek_context_score(struct ek_context *c, size_t *length, struct ek_error *e);
/* What ek_context_score did, and the version of the plan. */
const char *ek_context_action(const struct ek_context *c);
uint64_t ek_context_plan_version(const struct ek_context *c);

/* Lets time pass without a message: holds run out. Call about once a second. Of a clock that goes
 * back, or on by more than a day at once, nothing passes; use one that nobody sets. */
int ek_guard_advance(struct ek_guard *g, int64_t now_ms, struct ek_error *e);

/* The next thing that happened, one JSON object without a line end, oldest first. 1 when there was
 * one, 0 when there is none, -1 without memory to write it: then it is the next one still. Events
 * that nobody fetches are kept up to 4,096, then the oldest go. */
int ek_guard_next_event(struct ek_guard *g, const char **json);

/* Takes a record of a state: `key` is terminated, at most 39 bytes; with bytes NULL the record of
 * that key is to be deleted, which may as well be left out. Both are good until it returns. A value
 * other than 0 ends the save. */
typedef int (*ek_write_fn)(void *user, const char *key, const void *bytes, size_t length);

/* What the feature is like now in lists of that segment (NULL: in all) is normal there: the
 * confirmed change of scale ends, with its route, and is found no more, in no segment. *version:
 * for ek_guard_revert. author and reason (at most 64 and 500 bytes, NULL: not said) go with the
 * event. EK_EUSAGE for names that are none; EK_ESTATE when nothing is confirmed there, or nothing
 * that this makes normal, with what to do instead; EK_ELIMIT with too many: nothing has changed
 * then. EK_ENOMEM: it may be done, and not all is told. */
int ek_guard_accept(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                    const char *author, const char *reason, uint64_t *version, struct ek_error *e);
/* Takes an accept back: what it made normal is found again. */
int ek_guard_revert(struct ek_guard *g, uint64_t version, const char *author, const char *reason,
                    struct ek_error *e);

/* What people decide: from the next list on the action is taken there whatever is found and
 * whatever the mode is, until that time of the stream (0: for good); "none" lets nothing act. A pin
 * of a segment goes before one of all traffic, and one at the same place takes its place. segment
 * and value NULL: all traffic. author and reason as above. EK_EUSAGE for names that are none and an
 * action that the feature cannot have; EK_ESTATE where it cannot be done now; EK_ELIMIT with no
 * room for the segment value, or with too many: nothing has changed then. EK_ENOMEM: it may be
 * done, and not all is told. */
int ek_guard_pin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                 const char *action, int64_t until_ms, const char *author, const char *reason,
                 struct ek_error *e);
/* Takes a pin back. EK_ESTATE: nothing is pinned there, or only by the rules; the message says
 * where that stands. */
int ek_guard_unpin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                   const char *author, const char *reason, struct ek_error *e);
/* The plan in force is empty from the next list on, whatever is found or pinned, and what was
 * growing stands still; and no longer. One that is so already stays so, and nothing is told. */
int ek_guard_pause(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e);
int ek_guard_resume(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e);
/* A route that a guardrail took back begins anew; one whose fault is gone, and that stays since the
 * rules say `recover: manual`, ends. EK_ESTATE: there is neither. */
int ek_guard_resume_route(struct ek_guard *g, const char *feature, const char *segment,
                          const char *value, const char *author, const char *reason,
                          struct ek_error *e);

/* All that the guard has seen, as records of at most 260 KiB (docs/format/state.md), and behind
 * them their head, which makes a base of them. What has not changed since the last base is left
 * out, unless `full`; the first base of a guard is full. `user_data` (at most 64 KiB) is kept in
 * the head, for the caller. After a failure, or when the records were not kept, the next base must
 * be whole: after a failure it is. EK_ESTATE: write failed; EK_ENOMEM, EK_ELIMIT. */
int ek_guard_save(struct ek_guard *g, int full, const void *user_data, size_t user_data_length,
                  ek_write_fn write, void *user, struct ek_error *e);

/* Gathers the records of a state, which are copied. Those of a base may come in any order, behind
 * them its head; bases one after the other. */
int ek_state_new(struct ek_state **out, struct ek_error *e);
void ek_state_free(struct ek_state *s);
/* bytes NULL: the record was deleted. EK_EFORMAT: no record of a state, and nothing changed. */
int ek_state_add(struct ek_state *s, const char *key, const void *bytes, size_t length,
                 struct ek_error *e);
/* Number of the last base of which all is there, 0: none; bases of a guard are numbered from 1. Its
 * queries, and its note, as long as no head is added. */
uint64_t ek_checkpoint_number(const struct ek_state *s);
uint64_t ek_state_list_count(const struct ek_state *s);
const void *ek_state_note(const struct ek_state *s, size_t *length);

/* What a state was to a guard. */
enum ek_restore_result {
    EK_RESTORE_NONE,          /* there was no head */
    EK_RESTORE_FULL,          /* it goes on as if it had never stopped */
    EK_RESTORE_PREVIOUS,      /* the same, but from a base before the last, which is not complete */
    EK_RESTORE_COUNTERS_ONLY, /* of another profile, limit of cells, or segments: sketches and
                               * queries were kept, and the detector begins anew */
    EK_RESTORE_OTHER_MANIFEST, /* refused, and so are those below */
    EK_RESTORE_INCOMPLETE,     /* records that the head names are missing or differ */
    EK_RESTORE_DAMAGED,
    EK_RESTORE_OTHER_VERSION /* of the format */
};
/* "none", "whole", "earlier", ... */
const char *ek_restore_result_name(enum ek_restore_result fit);

/* A new guard with a state. *fit says what it was, with failures too, memory aside; *out is
 * untouched then. The assets must outlive the guard, the state need not. */
int ek_guard_load(struct ek_guard **out, const struct ek_assets *assets,
                  const struct ek_state *state, enum ek_restore_result *fit, struct ek_error *e);

/* Other assets from the next list on: rules, profile, model. Of the manifest there must be the same
 * one (EK_ESTATE). What was learnt goes on as far as *fit says, as of ek_guard_load; plan and open
 * findings follow the new rules at once, and what changes with that is told as events. Messages
 * that were read with the assets of before can no longer be taken or looked at: read them again
 * with a context of these. What was taken may still be scored with its context; ek_guard_score has
 * nothing until the next message. On failure the guard is as it was. The assets of before may go
 * when no context has them. An instance of a fleet (of `run`) has to join it again. */
int ek_guard_set_assets(struct ek_guard *g, const struct ek_assets *assets,
                        enum ek_restore_result *fit, struct ek_error *e);

/* Adds what another guard of the same assets has seen: sketches and counts exactly, evidence as its
 * theory allows, lists it remembers in the order of their times, open changes and the plan. Of two
 * changes of the same feature and cell one goes on, and the other is told as dismissed. `from`
 * keeps what it had. EK_ENOMEM: neither is of any use. */
int ek_guard_merge(struct ek_guard *into, struct ek_guard *from, struct ek_error *e);

#ifdef __cplusplus
}
#endif

#endif
