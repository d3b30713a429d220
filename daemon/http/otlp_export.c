#include "daemon/http/otlp_export.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/base/http_client.h"
#include "daemon/base/log.h"
#include "daemon/base/otlp_metrics.h"
#include "daemon/kafka/kafka.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { TIMEOUT_MS = 10000, WHY_BYTES = 400 };

struct ek_otlp_export {
    struct ek_stage *stage;
    const struct ek_config *config;
    struct ek_log *log;
    struct ek_http *http;
    pthread_t thread;
    atomic_bool stopping;
    int64_t start_ms;
    bool failing;
};

/* Log a failure when it begins, and the first success after it. */
static void report_result(struct ek_otlp_export *x, const char *why)
{
    bool failed = why != NULL;
    if (failed && !x->failing)
        ek_log_text(x->log, EK_LOG_WARN, "otlp_export_failed", why);
    else if (!failed && x->failing)
        ek_log_write(x->log, EK_LOG_INFO, "otlp_export_recovered", "status=ok");
    x->failing = failed;
}

static int write_request(const struct ek_otlp_export *x, struct ek_buf *body)
{
    struct ek_buf text;
    const struct ek_otlp_resource resource = {.service = x->config->service_name,
                                              .instance = x->config->instance,
                                              .version = ek_version(),
                                              .start_ms = x->start_ms,
                                              .now_ms = ek_wall_ms()};
    ek_buf_init(&text, 0);
    int rc = ek_stage_metrics_text(x->stage, &text);
    const char *metrics = rc ? NULL : ek_buf_string(&text);
    if (!rc)
        rc = metrics ? ek_otlp_metrics(metrics, &resource, body) : EK_ENOMEM;
    ek_buf_release(&text);
    return rc;
}

static bool begin(struct ek_otlp_export *x)
{
    struct ek_buf body;
    ek_buf_init(&body, 0);
    int rc = write_request(x, &body);
    const struct ek_http_request request = {.url = x->config->otlp_endpoint,
                                            .body = body.data,
                                            .length = body.length,
                                            .timeout_ms = TIMEOUT_MS};
    bool begun = !rc && ek_http_begin(x->http, 0, &request);
    if (!begun)
        report_result(x, rc == EK_EFORMAT ? "the metrics could not be encoded" : "out of memory");
    ek_buf_release(&body);
    return begun;
}

/* Wait until a monotonic time, or the end. */
static void wait_until(struct ek_otlp_export *x, int64_t due_ms)
{
    for (int64_t left; !atomic_load(&x->stopping) && (left = due_ms - ek_now_ms()) > 0;)
        ek_http_wait(x->http, (int)left);
}

static void finish(struct ek_otlp_export *x)
{
    struct ek_http_response response;
    char why[WHY_BYTES];
    bool done = false;
    while (!atomic_load(&x->stopping) && !(done = ek_http_next(x->http, &response)))
        ek_http_wait(x->http, TIMEOUT_MS);
    if (!done)
        return;
    if (response.status)
        snprintf(why, sizeof why, "HTTP status %d: %s", response.status, response.text);
    else
        snprintf(why, sizeof why, "%s", response.text);
    report_result(x, response.status / 100 == 2 ? NULL : why);
}

static void *run(void *context)
{
    struct ek_otlp_export *x = context;
    int64_t due_ms = ek_now_ms();
    while (!atomic_load(&x->stopping)) {
        due_ms += x->config->otlp_export_interval_ms;
        wait_until(x, due_ms);
        if (!atomic_load(&x->stopping) && begin(x))
            finish(x);
        if (due_ms < ek_now_ms())
            due_ms = ek_now_ms();
    }
    return NULL;
}

int ek_otlp_export_start(struct ek_otlp_export **out, struct ek_stage *stage,
                         const struct ek_config *c, struct ek_log *log, struct ek_error *e)
{
    *out = NULL;
    if (!c->otlp_endpoint)
        return EK_OK;
    struct ek_otlp_export *x = ek_calloc(1, sizeof *x);
    if (!x || ek_http_new(&x->http, 1, e)) {
        ek_free(x);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    x->stage = stage;
    x->config = c;
    x->log = log;
    x->start_ms = ek_wall_ms();
    if (pthread_create(&x->thread, NULL, run, x)) {
        ek_http_free(x->http);
        ek_free(x);
        return ek_fail(e, EK_EIO, "cannot start the thread of 'otlp.endpoint'");
    }
    *out = x;
    return EK_OK;
}

void ek_otlp_export_stop(struct ek_otlp_export *x)
{
    if (!x)
        return;
    atomic_store(&x->stopping, true);
    ek_http_wake(x->http);
    pthread_join(x->thread, NULL);
    ek_http_free(x->http);
    ek_free(x);
}
