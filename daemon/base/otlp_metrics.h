/* Metrics in the OpenTelemetry protocol (OTLP): the JSON of an ExportMetricsServiceRequest from the
 * Prometheus text of /metrics, with the same names and labels. */
#ifndef EK_DAEMON_BASE_OTLP_METRICS_H
#define EK_DAEMON_BASE_OTLP_METRICS_H

#include "base/buf.h"

#include <stdint.h>

struct ek_otlp_resource {
    const char *service, *instance, *version; /* instance NULL: none */
    int64_t start_ms, now_ms;                 /* wall time: start of the counters, and now */
};

/* Append the request for all samples of `text`, as ek_metrics_head and its writers print them. A
 * counter becomes a cumulative sum, a gauge a gauge, a histogram a cumulative histogram; values
 * that are not finite are left out. Return 0 or EK_ENOMEM, or EK_EFORMAT for another text. */
int ek_otlp_metrics(const char *text, const struct ek_otlp_resource *r, struct ek_buf *out);

#endif
