/* `windows`: the live sketches of the traffic. */
#include "data/rules_read.h"

#include "num/windows.h"

enum { LENGTH_MS = 5 * 60 * 1000, KEPT = 12, CELLS = 100, CELLS_MAX = 10000, SECOND_MS = 1000 };

struct ek_window_rule ek_rules_windows_default(void)
{
    return (struct ek_window_rule){LENGTH_MS, KEPT, CELLS};
}

static int read_length(const struct ek_rules_source *s, const struct ek_node *n)
{
    int64_t length_ms = 0;
    int rc = n ? ek_node_duration(s->y, n, "length", &length_ms, s->e) : EK_OK;
    if (!n || rc)
        return rc;
    if (length_ms < SECOND_MS)
        return ek_node_fail(s->y, n, s->e, "'length' must be at least 1s");
    s->r->windows.length_ms = length_ms;
    return EK_OK;
}

int ek_rules_read_windows(const struct ek_rules_source *s, const struct ek_node *map)
{
    static const char *const keys[] = {"length", "kept", "cells"};
    struct ek_window_rule *w = &s->r->windows;
    if (!map)
        return EK_OK;
    int rc = ek_rules_keys(s, map, keys, sizeof keys / sizeof *keys);
    if (!rc)
        rc = ek_rules_go_on(s, read_length(s, ek_node_get(map, "length")));
    if (!rc)
        rc = ek_rules_int(s, map, "kept", 1, EK_WINDOWS_KEPT_MAX, &w->kept);
    return rc ? rc : ek_rules_int(s, map, "cells", 0, CELLS_MAX, &w->cells);
}
