/* Export of the metrics of a stage to an OTLP/HTTP endpoint at an interval, on a separate thread.
 * A failure is logged when it begins and when it ends, and blocks nothing. */
#ifndef EK_DAEMON_HTTP_OTLP_EXPORT_H
#define EK_DAEMON_HTTP_OTLP_EXPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/config/config.h"
#include "daemon/stage/stage.h"

#include <stdint.h>

struct ek_otlp_export;

/* Start the export to c->otlp_endpoint; without one, *out is NULL. Stage, log and configuration
 * must outlive it. Return 0, EK_ENOMEM, or EK_EIO if the thread does not start. */
int ek_otlp_export_start(struct ek_otlp_export **out, struct ek_stage *stage,
                         const struct ek_config *c, struct ek_log *log, struct ek_error *e);
/* Abandon a request in flight, stop the thread and free it. NULL is allowed. */
void ek_otlp_export_stop(struct ek_otlp_export *x);

/* Metrics in the OpenTelemetry protocol (OTLP): the JSON of an ExportMetricsServiceRequest from the
 * Prometheus text of /metrics, with the same names and labels. */

struct ek_otlp_resource {
    const char *service, *instance, *version; /* instance NULL: none */
    int64_t start_ms, now_ms;                 /* wall time: start of the counters, and now */
};

/* Append the request for all samples of `text`, as ek_metrics_head and its writers print them. A
 * counter becomes a cumulative sum, a gauge a gauge, a histogram a cumulative histogram; values
 * that are not finite are left out. Return 0 or EK_ENOMEM, or EK_EFORMAT if `text` is not in
 * the Prometheus format. */
int ek_otlp_metrics(const char *text, const struct ek_otlp_resource *r, struct ek_buf *out);

#endif
