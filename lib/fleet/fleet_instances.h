/* The instances of a fleet as the decider knows them: which ticks of each have come, when, and what
 * it says is wrong. Owner: the caller.
 */
#ifndef EK_GUARD_FLEET_INSTANCES_H
#define EK_GUARD_FLEET_INSTANCES_H

#include "detect/detector.h"
#include "fleet/fleet_pool.h"

struct ek_fleet_instances;
struct ek_fleet_instance;

enum ek_fleet_arrival {
    EK_FLEET_NEWEST, /* of its instance so far */
    EK_FLEET_OLDER,  /* new, behind a newer one: its sums count, its findings are past */
    EK_FLEET_TWICE,
    EK_FLEET_LATE
};

int ek_fleet_instances_new(struct ek_fleet_instances **out);
void ek_fleet_instances_free(struct ek_fleet_instances *s);
/* Of that name; a new one takes the place of one that is gone for good when there is no room. NULL:
 * no room. */
struct ek_fleet_instance *ek_fleet_instances_find(struct ek_fleet_instances *s, struct ek_text name,
                                                  int64_t clock_ms);
int ek_fleet_instances_number(const struct ek_fleet_instances *s, struct ek_text name);
enum ek_fleet_arrival ek_fleet_instance_arrives(struct ek_fleet_instance *i,
                                                const struct ek_fleet_head *head, int64_t clock_ms);
/* One more finding of the newest tick. EK_ENOMEM. */
int ek_fleet_instance_finding(struct ek_fleet_instance *i, const struct ek_finding *f);

/* As in guard/fleet_pool.h; *normal: version of what is normal that the finding is held against. */
int ek_fleet_instances_alive(const struct ek_fleet_instances *s, int64_t clock_ms);
size_t ek_fleet_instances_shared(const struct ek_fleet_instances *s, size_t at, int64_t clock_ms,
                                 const char **name);
int64_t ek_fleet_instances_time_ms(const struct ek_fleet_instances *s, int64_t clock_ms);
size_t ek_fleet_instances_finding(const struct ek_fleet_instances *s, size_t at, int64_t clock_ms,
                                  struct ek_finding *out, int *instance, uint64_t *normal);

#endif
