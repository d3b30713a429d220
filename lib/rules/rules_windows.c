/* `windows`: the live sketches of the traffic. */
#include "rules/rules_read.h"

enum { LENGTH_MS = 5 * 60 * 1000, KEPT = 12, CELLS = 100 };

struct ek_window_rule ek_rules_windows_default(void)
{
    return (struct ek_window_rule){LENGTH_MS, KEPT, CELLS};
}

int ek_rules_read_windows(const struct ek_rules_source *s, const struct ek_node *map)
{
    struct ek_window_rule *w = &s->r->windows;
    if (!map)
        return EK_OK;
    int rc = ek_rules_keys(s, map, "windows");
    if (!rc)
        rc = ek_rules_duration(s, map, "windows.length", &w->length_ms);
    if (!rc)
        rc = ek_rules_int(s, map, "windows.kept", &w->kept);
    return rc ? rc : ek_rules_int(s, map, "windows.cells", &w->cells);
}
