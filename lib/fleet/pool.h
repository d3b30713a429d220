/* The evidence of a fleet, pooled: what the decider makes of the ticks of all instances.
 *
 * Sums of a tick are added to those of the others as they come; at the decider's own tick they move
 * R, by names of cells, and are spent. So it does not matter in which order records come, and one
 * that comes twice is known by its number and counts once. A record that is lost is evidence that
 * is missing, no more. One that is more than EK_FLEET_BEHIND ticks older than the newest of its
 * instance, or of an earlier run of it, comes too late and counts for nothing.
 * Features that are categories are left to the instances.
 * Owner: the caller. One thread at a time. Manifest, profile and rules must outlive it. Memory: 300
 * bytes per cell and item feature.
 */
#ifndef EK_FLEET_POOL_H
#define EK_FLEET_POOL_H

#include "assets/profile.h"
#include "detect/detector.h"
#include "fleet/evidence_report.h"
#include "rules/rules.h"

enum {
    EK_FLEET_INSTANCES_MAX = 1024,
    EK_FLEET_PLACES_DEFAULT_MAX = 256, /* cells by name; what comes later is not pooled */
    EK_FLEET_BEHIND = 64,              /* ticks */
    EK_FLEET_EXPIRED_MS = 30000,       /* without a record: its findings are nobody's */
    EK_FLEET_ARRIVALS = 3, /* of an earlier start's ticks with those of a later one: both live */
};

struct ek_fleet_pool;

/* share: of the budget of false alarms. */
int ek_fleet_pool_new(struct ek_fleet_pool **out, const struct ek_manifest *m,
                      const struct ek_profile *p, const struct ek_rules *rules, double share,
                      int places, struct ek_error *e);
void ek_fleet_pool_free(struct ek_fleet_pool *p);

/* Hash of its profile. */
uint64_t ek_fleet_pool_profile(const struct ek_fleet_pool *p);

/* What became of records and cells. */
struct ek_fleet_pool_counts {
    uint64_t taken, twice, late, refused; /* records */
    uint64_t beyond;                      /* cells told of that have no place */
};
struct ek_fleet_pool_counts ek_fleet_pool_counts(const struct ek_fleet_pool *p);

/* Takes a tick record. One that came before or comes too late is counted, and no failure.
 * EK_EFORMAT, EK_ESTATE for another manifest or profile, EK_ELIMIT for too many instances,
 * EK_ENOMEM: then nothing of it counts, but for EK_ENOMEM, where a part may. */
int ek_fleet_pool_add(struct ek_fleet_pool *p, const void *bytes, size_t length, int64_t clock_ms,
                      struct ek_error *e);
/* Number of a cell by its names, from 0 for all traffic; it gets one if it has none. -1: no room,
 * or a dimension that the pool does not know. Good as long as the pool. EK_ENOMEM. */
int ek_fleet_pool_place(struct ek_fleet_pool *p, const struct ek_fleet_cell *cell, int *place);
/* -1: it has none. */
int ek_fleet_pool_find(const struct ek_fleet_pool *p, const struct ek_fleet_cell *cell);
struct ek_fleet_cell ek_fleet_pool_cell(const struct ek_fleet_pool *p, int place);
int ek_fleet_pool_places(const struct ek_fleet_pool *p);

/* The share of the traffic of late in any of these places, 0 to 1, never too low: 1 where it is not
 * known, and lists in two of them count twice. */
double ek_fleet_pool_share(const struct ek_fleet_pool *p, const int *place, int count);

struct ek_fleet_alarm {
    int place, feature, bet;
};
/* Version of what is normal: sums of ticks from before and after it was heard mean different
 * things, so those of another version do not count. */
void ek_fleet_pool_set_accepted_version(struct ek_fleet_pool *p, uint64_t normal);

/* Spends what has come. Returns how many reached the alarm, at most `most`; they start anew. */
int ek_fleet_pool_advance(struct ek_fleet_pool *p, struct ek_fleet_alarm *alarm, int most);
/* Forgets the evidence on a feature in a cell, that of lists that came already included; or in all.
 */
void ek_fleet_pool_restart(struct ek_fleet_pool *p, int place, int feature);
void ek_fleet_pool_restart_all(struct ek_fleet_pool *p, int feature);
/* Weighted sum of R, which the alarm is held against; for whoever wants to watch it. */
double ek_fleet_pool_evidence(const struct ek_fleet_pool *p, int place, int feature);

/* Number of an instance that a tick came of, below EK_FLEET_INSTANCES_MAX; -1 when none did. */
int ek_fleet_pool_instance(const struct ek_fleet_pool *p, struct ek_text name);
/* Instances heard of in the last EK_FLEET_EXPIRED_MS. */
int ek_fleet_pool_instances(const struct ek_fleet_pool *p, int64_t clock_ms);
/* The next name, from `at` on, under which two processes have told their ticks in turns in the last
 * EK_FLEET_EXPIRED_MS: what the one says that started first counts for nothing. One that was
 * restarted is none. Returns where to go on, 0 at the end; begin with 0. The text is a view. */
size_t ek_fleet_pool_next_duplicate(const struct ek_fleet_pool *p, size_t at, int64_t clock_ms,
                                    const char **name);
/* The highest stream time of those, but not more than a minute above the median, since a clock may
 * be wrong; INT64_MIN when there is none. Who has seen no list yet says 0 and is left out. */
int64_t ek_fleet_pool_time_ms(const struct ek_fleet_pool *p, int64_t clock_ms);
/* Findings of those: the first from `at` on, its cell the number of the place. Returns where to go
 * on, 0 at the end. Begin with 0. *current: it is held against what is normal now. */
size_t ek_fleet_pool_finding(const struct ek_fleet_pool *p, size_t at, int64_t clock_ms,
                             struct ek_finding *out, int *instance, bool *current);

/* The instances of a fleet as the decider knows them: which ticks of each have come, when, and what
 * it says is wrong. Owner: the caller.
 */
struct ek_pool_instances;
struct ek_pool_instance;

enum ek_fleet_arrival {
    EK_FLEET_NEWEST, /* of its instance so far */
    EK_FLEET_OLDER,  /* new, behind a newer one: its sums count, its findings are past */
    EK_FLEET_DUPLICATE,
    EK_FLEET_LATE
};

int ek_pool_instances_new(struct ek_pool_instances **out);
void ek_pool_instances_free(struct ek_pool_instances *s);
/* Of that name; a new one takes the place of one that is gone for good when there is no room. NULL:
 * no room. */
struct ek_pool_instance *ek_pool_instances_find(struct ek_pool_instances *s, struct ek_text name,
                                                int64_t clock_ms);
enum ek_fleet_arrival ek_pool_instance_classify(struct ek_pool_instance *i,
                                                const struct ek_fleet_head *head, int64_t clock_ms);

/* As in guard/fleet_pool.h; *normal: version of what is normal that the finding is held against. */
size_t ek_pool_instances_next_duplicate(const struct ek_pool_instances *s, size_t at,
                                        int64_t clock_ms, const char **name);

#endif
