/* In which of 10,000 buckets a query is: a canary of P percent acts on those below 100 P
 * (decide/plan.h).
 *
 * The same on every machine, in every instance and in every version, so that a query stays in a
 * canary or out of it over restarts, and growing only adds queries: xxh64 of the bytes of its id
 * with EK_BUCKET_SEED, modulo 10,000. A list without an id, or with an empty one, is known by its
 * query features and its items in any order (ek_repeat_key with both bits), hashed the same way as
 * eight bytes, the lowest first; another manifest may put it elsewhere. One bucket for all
 * features: a query is wholly in a canary or wholly out of it.
 * Pure; any thread. Allocates nothing.
 */
#ifndef EK_DECIDE_BUCKET_H
#define EK_DECIDE_BUCKET_H

#include "lists/query.h"

enum { EK_BUCKETS = 10000 };
#define EK_BUCKET_SEED 0x656b63616e617279u /* "ekcanary" */

int ek_bucket_of(const struct ek_query *q);

#endif
