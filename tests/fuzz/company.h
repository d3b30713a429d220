/* Small fleet for fuzz targets: two instances on one genuine stream, two leader candidates, one log
 * of evidence reports and one of plans. The target may append forged records to both. A fleet lives
 * for one input; its assets are created once. Single-threaded. */
#ifndef EK_TESTS_FUZZ_COMPANY_H
#define EK_TESTS_FUZZ_COMPANY_H

#include "fleet/leader.h"
#include "fleet/fleet_instance.h"
#include "fleet/command_record.h"
#include "serve/comparison_sums.h"

enum { COMPANY_MEMBERS = 2, COMPANY_DECIDERS = 2, COMPANY_TICK_MS = 1000, COMPANY_LISTS = 8 };

/* Faults of the genuine lists. */
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
    int list;       /* genuine lists so far */
    int64_t stream_ms, clock_ms;
};

struct company_assets {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
};
const struct company_assets *company_assets(void);

/* Create a fleet with the first candidate as leader. */
struct company *company_open(void);
void company_close(struct company *c);
/* Run one report interval with genuine lists. Return false if none are left. */
bool company_tick(struct company *c, enum company_fault fault);
/* Run the same number of lists between two reports; only urgent reports are sent. */
bool company_early(struct company *c, enum company_fault fault);
/* Add shadow-scoring results of the members for the current plan, worse with a larger `harm`. */
void company_try(struct company *c, double harm);
/* Restart all instances. */
void company_restart(struct company *c);
/* Append a record to the log of plans, or of evidence reports. */
void company_send(struct company *c, const void *bytes, size_t length, bool plans);

#endif
