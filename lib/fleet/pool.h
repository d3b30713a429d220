/* Pooled evidence of a fleet, from the evidence reports of all instances, and the instances that
 * the leader knows.
 *
 * Sums of reports add up per cell name, and ek_fleet_pool_advance applies them to the statistic R.
 * So the order of reports does not matter, a duplicate is recognized by its number, and a lost
 * report is only missing evidence. Reports more than EK_FLEET_BEHIND older than the last report of
 * the instance, and those of an earlier run, are ignored. Category features are not pooled.
 * Manifest, profile and rules must outlive the pool. Memory: 300 bytes per cell and item feature.
 */
#ifndef EK_FLEET_POOL_H
#define EK_FLEET_POOL_H

#include "assets/profile.h"
#include "detect/detector.h"
#include "fleet/evidence_report.h"
#include "rules/rules.h"

enum {
    EK_FLEET_INSTANCES_MAX = 1024,
    EK_FLEET_PLACES_DEFAULT_MAX = 256, /* named cells; later ones are not pooled */
    EK_FLEET_BEHIND = 64,              /* reports */
    EK_FLEET_EXPIRED_MS = 30000,       /* without a report: findings of the instance are dropped */
    EK_FLEET_ARRIVALS = 3,             /* alternating reports of two runs: both are alive */
};

struct ek_fleet_pool;

/* Create a pool. Manifest, profile and rules must outlive it. `share`: fraction of the false-alarm
 * budget; `places`: maximum number of cells. Return 0 or EK_ENOMEM. */
int ek_fleet_pool_new(struct ek_fleet_pool **out, const struct ek_manifest *m,
                      const struct ek_profile *p, const struct ek_rules *rules, double share,
                      int places, struct ek_error *e);
void ek_fleet_pool_free(struct ek_fleet_pool *p);

/* Return the hash of the profile, which reports must have. */
uint64_t ek_fleet_pool_profile(const struct ek_fleet_pool *p);

/* Counters of reports and cells. */
struct ek_fleet_pool_counts {
    uint64_t taken, twice, late, refused; /* reports */
    uint64_t beyond;                      /* reported cells that found no space */
};
/* Return the counters of received reports since the start. */
struct ek_fleet_pool_counts ek_fleet_pool_counts(const struct ek_fleet_pool *p);

/* Add an evidence report, which is not kept. Duplicate and late reports are only counted. Return 0,
 * EK_EFORMAT, EK_ESTATE for another manifest or profile, EK_ELIMIT for too many instances, or
 * EK_ENOMEM. On error the report is ignored; with EK_ENOMEM a part may count. */
int ek_fleet_pool_add(struct ek_fleet_pool *p, const void *bytes, size_t length, int64_t clock_ms,
                      struct ek_error *e);
/* Set *place to the number of a named cell, from 0 for all traffic, adding it if needed. -1: no
 * space, or a dimension that the rules lack. Numbers are valid as long as the pool. Return 0, or
 * EK_ENOMEM. */
int ek_fleet_pool_place(struct ek_fleet_pool *p, const struct ek_fleet_cell *cell, int *place);
/* Return the number of a named cell, or -1 if the pool does not have it. */
int ek_fleet_pool_find(const struct ek_fleet_pool *p, const struct ek_fleet_cell *cell);
/* Return the names of a cell as views, valid as long as the pool. */
struct ek_fleet_cell ek_fleet_pool_cell(const struct ek_fleet_pool *p, int place);
/* Return the number of cells. */
int ek_fleet_pool_places(const struct ek_fleet_pool *p);

/* Return an upper bound of the fraction of recent lists in any of these cells, 0 to 1. It is 1 if
 * unknown; lists in two of the cells count twice. */
double ek_fleet_pool_share(const struct ek_fleet_pool *p, const int *place, int count);

struct ek_fleet_alarm {
    int place, feature, bet;
};
/* Set the version of accepted levels. Sums of reports with another version are ignored, because
 * they refer to other levels. */
void ek_fleet_pool_set_accepted_version(struct ek_fleet_pool *p, uint64_t normal);

/* Apply the pending sums to the statistic R. Write the cells and features that reached the alarm
 * level to alarm [most], and reset their evidence. Return their number. */
int ek_fleet_pool_advance(struct ek_fleet_pool *p, struct ek_fleet_alarm *alarm, int most);
/* Reset the evidence of a feature in one cell, including pending sums. */
void ek_fleet_pool_restart(struct ek_fleet_pool *p, int place, int feature);
/* Reset the evidence of a feature in all cells, including pending sums. */
void ek_fleet_pool_restart_all(struct ek_fleet_pool *p, int feature);
/* Return the evidence of a feature in a cell: the weighted sum of R, which is compared with the
 * alarm level. */
double ek_fleet_pool_evidence(const struct ek_fleet_pool *p, int place, int feature);

/* Return the number of a known instance, below EK_FLEET_INSTANCES_MAX, or -1. */
int ek_fleet_pool_instance(const struct ek_fleet_pool *p, struct ek_text name);
/* Return the number of instances with a report in the last EK_FLEET_EXPIRED_MS. */
int ek_fleet_pool_instances(const struct ek_fleet_pool *p, int64_t clock_ms);
/* Find the next name, from position `at`, that two processes share: their reports alternated in the
 * last EK_FLEET_EXPIRED_MS. Reports of the earlier process are ignored. A restart does not count.
 * Return the next position, 0 at the end; start with 0. *name is valid until the next report is
 * added. */
size_t ek_fleet_pool_next_duplicate(const struct ek_fleet_pool *p, size_t at, int64_t clock_ms,
                                    const char **name);
/* Return the latest event time of the live instances, at most one minute above their median because
 * a clock may be wrong. INT64_MIN: none. Instances without lists report 0 and are skipped. */
int64_t ek_fleet_pool_time_ms(const struct ek_fleet_pool *p, int64_t clock_ms);
/* Set *out to the next finding of a live instance, from position `at`, and *instance to the number
 * of the instance; its cell is a cell of the pool. *current: it refers to the current accepted
 * levels. Return the next position, 0 at the end with *out unchanged; start with 0. */
size_t ek_fleet_pool_finding(const struct ek_fleet_pool *p, size_t at, int64_t clock_ms,
                             struct ek_finding *out, int *instance, bool *current);

/* Instances known to the leader: received reports, their times, and their findings. */
struct ek_pool_instances;
struct ek_pool_instance;

enum ek_fleet_arrival {
    EK_FLEET_NEWEST, /* the last of its instance */
    EK_FLEET_OLDER,  /* new but out of order: sums count, findings are outdated */
    EK_FLEET_DUPLICATE,
    EK_FLEET_LATE
};

/* Create an empty set of instances. Return 0 or EK_ENOMEM. */
int ek_pool_instances_new(struct ek_pool_instances **out);
void ek_pool_instances_free(struct ek_pool_instances *s);
/* Return the instance of this name, adding it if it is new; owned by the set. A new instance may
 * replace an expired one, so it is valid until the next call. NULL: all EK_FLEET_INSTANCES_MAX are
 * in use. */
struct ek_pool_instance *ek_pool_instances_find(struct ek_pool_instances *s, struct ek_text name,
                                                int64_t clock_ms);
/* Return the class of a report by its start and number, and record its arrival at clock_ms. */
enum ek_fleet_arrival ek_pool_instance_classify(struct ek_pool_instance *i,
                                                const struct ek_fleet_head *head, int64_t clock_ms);

/* Find the next duplicate name from position `at`, as ek_fleet_pool_next_duplicate does for a pool.
 * Return the next position, 0 at the end. *name is valid until the next ek_pool_instances_find. */
size_t ek_pool_instances_next_duplicate(const struct ek_pool_instances *s, size_t at,
                                        int64_t clock_ms, const char **name);

#endif
