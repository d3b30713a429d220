/* A small fleet for fuzz targets: two instances that observe the same genuine stream, two deciders,
 * one log of ticks and one of plans, in which others may write as well. All of it lives as long as
 * an input; what it is made of is made once. Threads: one.
 */
#ifndef EK_TESTS_FUZZ_COMPANY_H
#define EK_TESTS_FUZZ_COMPANY_H

#include "fleet/leader.h"
#include "fleet/fleet_instance.h"
#include "fleet/command_record.h"
#include "serve/comparison_sums.h"

enum { COMPANY_MEMBERS = 2, COMPANY_DECIDERS = 2, COMPANY_TICK_MS = 1000, COMPANY_LISTS = 8 };

/* What genuine lists have. */
enum company_fault { SOUND, CENTS, CENTS_IN_B, HALF_CENTS, CENTS_IN_ONE, DEARER, SIZES, GONE };

/* The newest genuine record of each kind. */
struct company_record {
    uint8_t kind;
    struct ek_buf bytes;
};
enum { COMPANY_KINDS = 6 };

struct company {
    struct ek_detector *detector[COMPANY_MEMBERS];
    struct ek_fleet_instance *member[COMPANY_MEMBERS];
    struct ek_comparisons *trials[COMPANY_MEMBERS];
    struct ek_leader *decider[COMPANY_DECIDERS];
    struct company_record last[COMPANY_KINDS];
    uint64_t start; /* of the instances */
    int list;       /* genuine ones so far */
    int64_t stream_ms, clock_ms;
};

struct company_assets {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
};
const struct company_assets *company_assets(void);

/* The first decider decides. */
struct company *company_open(void);
void company_close(struct company *c);
/* A tick with genuine lists; false: there are no more of them. */
bool company_tick(struct company *c, enum company_fault fault);
/* Between two ticks: as many lists, and only what cannot wait is told. */
bool company_early(struct company *c, enum company_fault fault);
/* What the members have tried of the plan in force: the more `harm`, the worse. */
void company_try(struct company *c, double harm);
/* All instances begin anew. */
void company_restart(struct company *c);
/* A record by whoever it is, for all who read that log: ticks, or plans. */
void company_send(struct company *c, const void *bytes, size_t length, bool plans);

#endif
