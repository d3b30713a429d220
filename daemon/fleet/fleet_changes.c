#include "daemon/fleet/fleet_changes.h"

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "guard/event.h"

#include <stdio.h>
#include <string.h>

static const int64_t WARN_EVERY_MS = 60000;

void ek_fleet_tell(const struct ek_fleet_mouth *m, const char *instance,
                   enum ek_fleet_change change)
{
    static const char *const words[][2] = {
        [EK_CHANGE_CUT_OFF] = {"cut_off",
                               "no plan of the fleet is heard: the last one stays in force"},
        [EK_CHANGE_HEARD] = {"heard", "the plan of the fleet is heard again"},
        [EK_CHANGE_NAME_SHARED] = {"name_shared", "two processes tell their ticks under this name"},
        [EK_CHANGE_NAME_FREE] = {"name_free", "one process goes by this name again"}};
    const struct ek_event v = {
        .kind = EK_EVENT_FLEET,
        .time_ms = ek_wall_ms(),
        .fleet = {.state = words[change][0],
                  .instance = instance,
                  .text = words[change][1],
                  .wrong = change == EK_CHANGE_CUT_OFF || change == EK_CHANGE_NAME_SHARED,
                  .name = change == EK_CHANGE_NAME_SHARED || change == EK_CHANGE_NAME_FREE}};
    ek_shared_guard_tell(m->guard, &v);
}

static void warn(const struct ek_fleet_mouth *m, const char *name)
{
    char text[EK_FLEET_NAME_MAX + 200];
    snprintf(text, sizeof text,
             "two processes go by the service.instance '%s': what one of them sees is lost. Give "
             "each a name of its own, or none",
             name);
    ek_log_text(m->log, EK_LOG_WARN, "fleet_name_shared", text);
}

static void tell_name(struct ek_fleet_names *n, const char *name, int64_t now_ms,
                      const struct ek_fleet_mouth *m)
{
    if (strcmp(n->told, name) != 0) {
        if (*n->told && now_ms - n->told_ms <= EK_FLEET_GONE_MS)
            return;
        if (*n->told)
            ek_fleet_tell(m, n->told, EK_CHANGE_NAME_FREE);
        if (*name)
            ek_fleet_tell(m, name, EK_CHANGE_NAME_SHARED);
        snprintf(n->told, sizeof n->told, "%s", name);
    }
    n->told_ms = now_ms;
}

void ek_fleet_names_look(struct ek_fleet_names *n, const struct ek_fleet_pool *pool, int64_t now_ms,
                         const struct ek_fleet_mouth *m)
{
    const char *name, *first = "";
    bool due = !n->warned_ms || now_ms - n->warned_ms >= WARN_EVERY_MS;
    n->shared = 0;
    for (size_t at = 0; pool && (at = ek_fleet_pool_shared_name(pool, at, now_ms, &name));) {
        if (due)
            warn(m, name);
        if (!n->shared++ || !strcmp(name, n->told))
            first = name;
    }
    if (n->shared && due)
        n->warned_ms = now_ms;
    tell_name(n, first, now_ms, m);
}
