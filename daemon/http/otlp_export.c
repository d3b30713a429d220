#include "daemon/http/otlp_export.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/base/http_client.h"
#include "daemon/base/log.h"
#include "daemon/kafka/kafka.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CUMULATIVE = 2, DIGITS = 17, BUCKETS_MAX = 64, NANO_BYTES = 32 };

enum kind { NO_KIND, COUNTER, GAUGE, HISTOGRAM };

struct slice {
    const char *at;
    size_t length;
};

struct writer {
    struct ek_json_writer json;
    struct ek_buf text; /* scratch for strings */
    char start[NANO_BYTES], now[NANO_BYTES];
    struct slice name, help; /* of the family */
    enum kind kind;
    bool open; /* the family has a sample */
    int rc;
    int buckets; /* of the histogram so far, the last one without a bound */
    double bound[BUCKETS_MAX], count[BUCKETS_MAX], sum;
};

/* Append a string, of which `\\`, `\"` and `\n` are unescaped. */
static void add_slice(struct writer *w, const char *key, struct slice s)
{
    ek_buf_clear(&w->text);
    for (size_t i = 0; i < s.length; i++) {
        bool escaped = s.at[i] == '\\' && i + 1 < s.length;
        char c = escaped ? s.at[++i] : s.at[i];
        ek_buf_add(&w->text, escaped && c == 'n' ? "\n" : &c, 1);
    }
    const char *text = ek_buf_string(&w->text);
    if (text)
        ek_json_add_text(&w->json, key, text);
    else
        w->rc = EK_ENOMEM;
}

static void add_attribute(struct writer *w, struct slice key, struct slice value)
{
    ek_json_open(&w->json, NULL, '{');
    add_slice(w, "key", key);
    ek_json_open(&w->json, "value", '{');
    add_slice(w, "stringValue", value);
    ek_json_close(&w->json, '}');
    ek_json_close(&w->json, '}');
}

static struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static bool is_text(struct slice s, const char *text)
{
    return s.length == strlen(text) && !memcmp(s.at, text, s.length);
}

/* Parse a value of the Prometheus text, which also writes NaN, +Inf and -Inf. Return 0 or
 * EK_EFORMAT. */
static int parse_value(const char *text, size_t length, double *out)
{
    static const char *const words[] = {"NaN", "+Inf", "-Inf"};
    static const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (is_text((struct slice){text, length}, words[i])) {
            *out = values[i];
            return EK_OK;
        }
    }
    return ek_parse_double(text, length, out);
}

/* Return the length of a quoted value up to its closing quote. */
static size_t quoted_length(const char *at, const char *end)
{
    const char *p = at;
    while (p < end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    return (size_t)(p - at);
}

/* Append the attributes of labels such as `feature="price",segment="arm=B"`. */
static void add_labels(struct writer *w, struct slice labels)
{
    const char *p = labels.at, *end = labels.at + labels.length;
    ek_json_open(&w->json, "attributes", '[');
    while (p < end && !w->rc) {
        const char *equals = memchr(p, '=', (size_t)(end - p));
        if (!equals || equals + 1 >= end || equals[1] != '"') {
            w->rc = EK_EFORMAT;
            break;
        }
        struct slice value = {equals + 2, quoted_length(equals + 2, end)};
        if (value.at + value.length >= end) {
            w->rc = EK_EFORMAT;
            break;
        }
        add_attribute(w, (struct slice){p, (size_t)(equals - p)}, value);
        p = value.at + value.length + 1;
        p += p < end && *p == ',';
    }
    ek_json_close(&w->json, ']');
}

static void open_family(struct writer *w)
{
    static const char *const members[] = {"", "sum", "gauge", "histogram"};
    if (w->open)
        return;
    w->open = true;
    ek_json_open(&w->json, NULL, '{');
    add_slice(w, "name", w->name);
    add_slice(w, "description", w->help);
    ek_json_open(&w->json, members[w->kind], '{');
    if (w->kind != GAUGE)
        ek_json_add_count(&w->json, "aggregationTemporality", CUMULATIVE);
    if (w->kind == COUNTER)
        ek_json_add_flag(&w->json, "isMonotonic", true);
    ek_json_open(&w->json, "dataPoints", '[');
}

static void close_family(struct writer *w)
{
    if (!w->open)
        return;
    w->open = false;
    ek_json_close(&w->json, ']');
    ek_json_close(&w->json, '}');
    ek_json_close(&w->json, '}');
}

static void open_point(struct writer *w, struct slice labels)
{
    open_family(w);
    ek_json_open(&w->json, NULL, '{');
    add_labels(w, labels);
    if (w->kind != GAUGE)
        ek_json_add_text(&w->json, "startTimeUnixNano", w->start);
    ek_json_add_text(&w->json, "timeUnixNano", w->now);
}

/* Add a 64-bit integer, which OTLP writes as a string. */
static void add_integer(struct writer *w, const char *key, double value)
{
    char text[NANO_BYTES];
    snprintf(text, sizeof text, "%.0f", value);
    ek_json_add_text(&w->json, key, text);
}

static void add_histogram(struct writer *w, double count)
{
    open_point(w, (struct slice){"", 0});
    add_integer(w, "count", count);
    ek_json_add_rounded(&w->json, "sum", w->sum, DIGITS);
    ek_json_open(&w->json, "bucketCounts", '[');
    for (int i = 0; i < w->buckets; i++)
        add_integer(w, NULL, w->count[i] - (i ? w->count[i - 1] : 0));
    ek_json_close(&w->json, ']');
    ek_json_open(&w->json, "explicitBounds", '[');
    for (int i = 0; i + 1 < w->buckets; i++)
        ek_json_add_rounded(&w->json, NULL, w->bound[i], DIGITS);
    ek_json_close(&w->json, ']');
    ek_json_close(&w->json, '}');
    w->buckets = 0;
}

static bool has_end(struct slice name, const char *end)
{
    size_t length = strlen(end);
    return name.length > length && !memcmp(name.at + name.length - length, end, length);
}

/* Collect a bucket or the sum, or write the histogram, which ends with its count. */
static void add_part(struct writer *w, struct slice name, struct slice labels, double value)
{
    static const char le[] = "le=\"";
    size_t start = sizeof le - 1;
    if (has_end(name, "_sum"))
        w->sum = value;
    else if (has_end(name, "_count"))
        add_histogram(w, value);
    else if (w->buckets == BUCKETS_MAX || labels.length <= start || memcmp(labels.at, le, start) ||
             parse_value(labels.at + start, labels.length - start - 1, &w->bound[w->buckets]))
        w->rc = EK_EFORMAT;
    else
        w->count[w->buckets++] = value;
}

static void add_sample(struct writer *w, struct slice line)
{
    const char *end = line.at + line.length, *name_end = line.at;
    struct slice labels = {"", 0};
    double value;
    while (name_end < end && *name_end != '{' && *name_end != ' ')
        name_end++;
    const char *p = name_end;
    if (p < end && *p == '{') {
        labels.at = ++p;
        while (p < end && *p != '}')
            p += *p == '"' ? quoted_length(p + 1, end) + 2 : 1;
        labels.length = p < end ? (size_t)(p++ - labels.at) : 0;
    }
    if (p >= end || *p != ' ' || w->kind == NO_KIND ||
        parse_value(p + 1, (size_t)(end - p - 1), &value)) {
        w->rc = EK_EFORMAT;
    } else if (w->kind == HISTOGRAM) {
        add_part(w, (struct slice){line.at, (size_t)(name_end - line.at)}, labels, value);
    } else if (isfinite(value)) {
        open_point(w, labels);
        ek_json_add_rounded(&w->json, "asDouble", value, DIGITS);
        ek_json_close(&w->json, '}');
    }
}

/* Read "# HELP name text" or "# TYPE name kind". */
static void read_comment(struct writer *w, struct slice line)
{
    static const char *const kinds[] = {"", "counter", "gauge", "histogram"};
    const char *name = line.at + 7, *end = line.at + line.length;
    const char *space = line.length > 7 ? memchr(name, ' ', (size_t)(end - name)) : NULL;
    if (!space)
        return;
    struct slice rest = {space + 1, (size_t)(end - space - 1)};
    if (!memcmp(line.at, "# HELP ", 7))
        w->help = rest;
    if (memcmp(line.at, "# TYPE ", 7) != 0)
        return;
    close_family(w);
    w->name = (struct slice){name, (size_t)(space - name)};
    w->buckets = 0;
    w->kind = HISTOGRAM;
    while (w->kind && !is_text(rest, kinds[w->kind]))
        w->kind--;
    if (is_text(rest, "summary"))
        w->kind = GAUGE; /* its quantiles, without sum and count */
}

static void write_resource(struct writer *w, const struct ek_otlp_resource *r)
{
    ek_json_open(&w->json, "resource", '{');
    ek_json_open(&w->json, "attributes", '[');
    add_attribute(w, slice_of("service.name"), slice_of(r->service));
    add_attribute(w, slice_of("service.version"), slice_of(r->version));
    if (r->instance)
        add_attribute(w, slice_of("service.instance.id"), slice_of(r->instance));
    ek_json_close(&w->json, ']');
    ek_json_close(&w->json, '}');
}

static void write_families(struct writer *w, const char *text)
{
    ek_json_open(&w->json, "metrics", '[');
    while (*text && !w->rc) {
        struct slice line = {text, strcspn(text, "\n")};
        if (*text == '#')
            read_comment(w, line);
        else if (line.length)
            add_sample(w, line);
        text += line.length + (text[line.length] == '\n');
    }
    close_family(w);
    ek_json_close(&w->json, ']');
}

int ek_otlp_metrics(const char *text, const struct ek_otlp_resource *r, struct ek_buf *out)
{
    struct writer w = {.help = {"", 0}};
    ek_json_init(&w.json, out);
    ek_buf_init(&w.text, 0);
    snprintf(w.start, sizeof w.start, "%lld000000", (long long)r->start_ms);
    snprintf(w.now, sizeof w.now, "%lld000000", (long long)r->now_ms);
    ek_json_open(&w.json, NULL, '{');
    ek_json_open(&w.json, "resourceMetrics", '[');
    ek_json_open(&w.json, NULL, '{');
    write_resource(&w, r);
    ek_json_open(&w.json, "scopeMetrics", '[');
    ek_json_open(&w.json, NULL, '{');
    ek_json_open(&w.json, "scope", '{');
    ek_json_add_text(&w.json, "name", "evenkeel");
    ek_json_close(&w.json, '}');
    write_families(&w, text);
    for (const char *end = "}]}]}"; *end; end++)
        ek_json_close(&w.json, *end);
    ek_buf_release(&w.text);
    return w.rc ? w.rc : w.json.rc;
}

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
