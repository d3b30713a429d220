/* docs/metrics.md out of the table of families. */
#include "daemon/base/metrics_table.h"

#include <string.h>

static const char HEAD[] =
    "# Metrics\n\n"
    "This page is made from the table of metrics by `evenkeel run --metrics-docs`; do not edit "
    "it.\n\n"
    "`/metrics` has all that is worked out now, as Prometheus text; what a configuration has no "
    "use for, as a\n"
    "fleet or a state, is not there. Counters begin at 0 with the process unless they are said to "
    "be life-long.\n"
    "What to alert on: [runbooks](runbooks.md), with rules and a dashboard in `deploy/prometheus` "
    "and\n`deploy/grafana`.\n\n"
    "The number of series is bounded. `feature` and `segment` (`all`, or `arm=B`) stand on 12 "
    "series for each\n"
    "feature of each of the `http.feature_cells` segments with the most lists, 16 unless said "
    "otherwise and\n"
    "none for 0, and on 6 for each of the first 64 routes of the plan. `partition` is one that is "
    "assigned.\n"
    "All other labels have the values given here.\n";

static int write_labels(const char *labels, struct ek_buf *out)
{
    int rc = EK_OK;
    for (const char *p = labels; !rc && *p; p += strcspn(p, " "), p += *p == ' ')
        rc = ek_buf_printf(out, "%s`%.*s`", p == labels ? "" : ", ", (int)strcspn(p, " "), p);
    return rc;
}

static int write_row(const struct ek_family *f, struct ek_buf *out)
{
    int rc = ek_buf_printf(out, "| `%s` | %s | ", f->name, ek_family_type_name(f->type));
    if (!rc)
        rc = write_labels(f->labels, out);
    int sentence = (int)strlen(f->help) - 1; /* without its full stop */
    if (rc)
        return rc;
    return ek_buf_printf(out, " | %.*s%s%s |\n", sentence, f->help, *f->note ? "; " : "", f->note);
}

int ek_metrics_document(struct ek_buf *out)
{
    const struct ek_family *f;
    int rc = ek_buf_text(out, HEAD);
    for (size_t i = 0; !rc && (f = ek_family_at(i)); i++) {
        if (f->group)
            rc = ek_buf_printf(out,
                               "\n## %s\n\n| metric | type | labels | what it is |\n"
                               "|---|---|---|---|\n",
                               f->group);
        if (!rc)
            rc = write_row(f, out);
    }
    return rc;
}
