#include "daemon/state/checkpoint_status.h"

#include "base/alloc.h"
#include "daemon/base/metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

struct ek_checkpoint_status {
    const char *topic;
    pthread_mutex_t lock; /* guards the fields below */
    uint64_t base, bases, bytes, gaps[EK_LOSS_KINDS];
    double save_seconds, restore_seconds;
    int64_t saved_ms; /* 0: no checkpoint */
};

static const char *state_gap_name(enum ek_state_loss gap)
{
    static const char *const names[] = {"not_found", "refused", "retention", "unsaved"};
    return names[gap];
}

struct ek_checkpoint_status *ek_checkpoint_status_new(const char *topic)
{
    struct ek_checkpoint_status *r = ek_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->topic = topic;
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void ek_checkpoint_status_free(struct ek_checkpoint_status *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    ek_free(r);
}

void ek_checkpoint_status_saved(struct ek_checkpoint_status *r, uint64_t base, uint64_t bytes,
                                double seconds, int64_t now_ms)
{
    pthread_mutex_lock(&r->lock);
    r->base = base;
    r->bases++;
    r->bytes += bytes;
    r->save_seconds = seconds;
    r->saved_ms = now_ms;
    pthread_mutex_unlock(&r->lock);
}

void ek_checkpoint_status_restored(struct ek_checkpoint_status *r, double seconds)
{
    pthread_mutex_lock(&r->lock);
    r->restore_seconds = seconds;
    pthread_mutex_unlock(&r->lock);
}

void ek_checkpoint_status_gap(struct ek_checkpoint_status *r, enum ek_state_loss gap)
{
    pthread_mutex_lock(&r->lock);
    r->gaps[gap]++;
    pthread_mutex_unlock(&r->lock);
}

static int write_gaps(const struct ek_checkpoint_status *r, struct ek_buf *out)
{
    ek_metrics_head("evenkeel_state_loss_total", out);
    for (int i = 0; i < EK_LOSS_KINDS; i++)
        ek_buf_printf(out, "evenkeel_state_loss_total{reason=\"%s\"} %" PRIu64 "\n",
                      state_gap_name((enum ek_state_loss)i), r->gaps[i]);
    return out->rc;
}

static int families(const struct ek_checkpoint_status *r, int64_t now_ms, struct ek_buf *out)
{
    ek_metrics_single("evenkeel_checkpoints_total", (double)r->bases, out);
    ek_metrics_single("evenkeel_checkpoint_bytes_total", (double)r->bytes, out);
    ek_metrics_head("evenkeel_checkpoint_age_seconds", out);
    if (r->saved_ms)
        ek_buf_printf(out, "evenkeel_checkpoint_age_seconds %.3f\n",
                      (double)(now_ms - r->saved_ms) / 1e3);
    ek_metrics_single("evenkeel_checkpoint_duration_seconds", r->save_seconds, out);
    ek_metrics_single("evenkeel_restore_duration_seconds", r->restore_seconds, out);
    return write_gaps(r, out);
}

int ek_checkpoint_status_metrics(struct ek_checkpoint_status *r, int64_t waiting_ms, int64_t now_ms,
                                 struct ek_buf *out)
{
    pthread_mutex_lock(&r->lock);
    families(r, now_ms, out);
    pthread_mutex_unlock(&r->lock);
    return ek_metrics_single("evenkeel_restore_pending_seconds", (double)waiting_ms / 1e3, out);
}

int ek_checkpoint_status_json(struct ek_checkpoint_status *r, int64_t now_ms, struct ek_buf *out)
{
    uint64_t gaps = 0;
    ek_buf_text(out, "{\"topic\":");
    ek_buf_json(out, r->topic, strlen(r->topic));
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < EK_LOSS_KINDS; i++)
        gaps += r->gaps[i];
    int64_t age_ms = r->saved_ms ? now_ms - r->saved_ms : -1;
    ek_buf_printf(out,
                  ",\"checkpoint\":%" PRIu64 ",\"checkpoints\":%" PRIu64 ",\"age_ms\":%" PRId64
                  ",\"restore_seconds\":%.3f,\"losses\":%" PRIu64 "}",
                  r->base, r->bases, age_ms, r->restore_seconds, gaps);
    pthread_mutex_unlock(&r->lock);
    return out->rc;
}
