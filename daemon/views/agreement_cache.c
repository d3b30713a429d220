#include "daemon/views/agreement_cache.h"

#include "base/alloc.h"
#include "daemon/base/metrics.h"
#include "guard/event_json.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>

struct ek_agreement_cache {
    pthread_mutex_t lock;
    bool filled;
    struct ek_agreement_view view;
};

struct ek_agreement_cache *ek_agreement_cache_new(void)
{
    struct ek_agreement_cache *b = ek_calloc(1, sizeof *b);
    if (b)
        pthread_mutex_init(&b->lock, NULL);
    return b;
}

void ek_agreement_cache_free(struct ek_agreement_cache *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    ek_free(b);
}

void ek_agreement_cache_set(struct ek_agreement_cache *b, const struct ek_agreement_watch *w)
{
    struct ek_agreement_view view;
    if (!w)
        return;
    ek_agreement_watch_view(w, &view);
    pthread_mutex_lock(&b->lock);
    b->view = view;
    b->filled = true;
    pthread_mutex_unlock(&b->lock);
}

void ek_agreement_cache_clear(struct ek_agreement_cache *b)
{
    pthread_mutex_lock(&b->lock);
    b->filled = false;
    pthread_mutex_unlock(&b->lock);
}

static bool read_cache(struct ek_agreement_cache *b, struct ek_agreement_view *out)
{
    pthread_mutex_lock(&b->lock);
    bool filled = b->filled;
    *out = b->view;
    pthread_mutex_unlock(&b->lock);
    return filled;
}

static void write_statistics(const char *name, const double *value, struct ek_buf *out)
{
    ek_metrics_head(name, out);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++)
        if (!isnan(value[i]))
            ek_buf_printf(out, "%s{statistic=\"%s\"} %.6g\n", name,
                          ek_agreement_statistic_name((enum ek_agreement_statistic)i), value[i]);
}

int ek_agreement_cache_metrics(struct ek_agreement_cache *b, struct ek_buf *out)
{
    struct ek_agreement_view v;
    if (!read_cache(b, &v))
        return EK_OK;
    ek_metrics_single("evenkeel_model_compared_lists_total", (double)v.lists, out);
    write_statistics("evenkeel_model_agreement", v.now, out);
    write_statistics("evenkeel_model_agreement_reference", v.trained, out);
    write_statistics("evenkeel_model_agreement_threshold", v.least, out);
    if (v.state == EK_AGREEMENT_UNKNOWN)
        return out->rc;
    return ek_metrics_single("evenkeel_model_drifted", v.state == EK_AGREEMENT_DRIFTED, out);
}

int ek_agreement_cache_json(struct ek_agreement_cache *b, struct ek_buf *out)
{
    struct ek_agreement_view v;
    if (!read_cache(b, &v))
        return ek_buf_text(out, "null");
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_text(&w, "state", ek_agreement_state_name(v.state));
    ek_json_add_count(&w, "compared_lists", v.lists);
    ek_json_add_integer(&w, "one_in", v.every);
    ek_json_add_stats(&w, &v);
    ek_json_close(&w, '}');
    return w.rc;
}
