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
 *         if (ek_context_prepare(context, bytes, length, e) == 0) {
 *             lock(); rc = ek_guard_take(guard, context, now_ms, e); ...next events... unlock();
 *             if (rc == 0)
 *                 forward(ek_context_score(context, &length, e), length);
 *         }
 *
 * ek_guard_observe and ek_guard_score are the same with a context that the guard has.
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

struct ek_error;
struct ek_assets;
struct ek_guard;
struct ek_context;

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

/* What ek_guard_score did: "pass" or "routed". */
const char *ek_guard_action(const struct ek_guard *g);
/* Version of the plan that the last message was scored under; 0 before the first plan. */
uint64_t ek_guard_plan_version(const struct ek_guard *g);
/* Queries observed since the guard was made. */
uint64_t ek_guard_queries(const struct ek_guard *g);

/* A context for one thread. The assets must outlive it. */
int ek_context_new(struct ek_context **out, const struct ek_assets *assets, struct ek_error *e);
void ek_context_free(struct ek_context *c);
/* Reads one message into the context; `message` must stay unchanged until ek_context_score. On
 * failure (a message that cannot be read) the context has none. */
int ek_context_prepare(struct ek_context *c, const void *message, size_t length,
                       struct ek_error *e);
/* Takes the message of the context into account, once, and notes in the context what the plan has
 * for it; now_ms as for ek_guard_observe. Guard and context must be of the same assets. EK_ESTATE
 * when there is none or it was taken; on failure ek_context_score must not be called for it. */
int ek_guard_take(struct ek_guard *g, struct ek_context *c, int64_t now_ms, struct ek_error *e);
/* As ek_guard_score, for the message of the context and the plan that it was taken under; needs the
 * context alone. */
const void *ek_context_score(struct ek_context *c, size_t *length, struct ek_error *e);
/* What ek_context_score did, and the version of the plan. */
const char *ek_context_action(const struct ek_context *c);
uint64_t ek_context_plan_version(const struct ek_context *c);

/* Lets time pass without a message: holds run out. Call about once a second. */
int ek_guard_tick(struct ek_guard *g, int64_t now_ms, struct ek_error *e);

/* The next thing that happened, one JSON object without a line end, oldest first. 1 when there was
 * one, 0 when there is none. Events that nobody fetches are kept up to 4,096, then the oldest go.
 */
int ek_guard_next_event(struct ek_guard *g, const char **json);

#ifdef __cplusplus
}
#endif

#endif
