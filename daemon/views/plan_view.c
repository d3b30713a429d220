#include "daemon/views/plan_view.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

static const char NONE[] = "{\"event\":\"plan\",\"version\":0,\"paused\":false,\"entries\":[]}";

struct ek_plan_view {
    pthread_mutex_t lock;
    struct ek_plan_document now, spare; /* `spare` belongs to the caller of _set */
};

struct ek_plan_view *ek_plan_view_new(void)
{
    struct ek_plan_view *v = ek_calloc(1, sizeof *v);
    if (!v)
        return NULL;
    pthread_mutex_init(&v->lock, NULL);
    ek_plan_document_init(&v->now);
    ek_plan_document_init(&v->spare);
    if (!ek_buf_text(&v->now.text, NONE))
        return v;
    ek_plan_view_free(v);
    return NULL;
}

void ek_plan_view_free(struct ek_plan_view *v)
{
    if (!v)
        return;
    ek_plan_document_release(&v->now);
    ek_plan_document_release(&v->spare);
    pthread_mutex_destroy(&v->lock);
    ek_free(v);
}

int ek_plan_view_set(struct ek_plan_view *v, const struct ek_guard *g)
{
    int rc = ek_guard_write_plan(g, &v->spare);
    if (rc)
        return rc;
    pthread_mutex_lock(&v->lock);
    struct ek_plan_document before = v->now;
    v->now = v->spare;
    v->spare = before;
    pthread_mutex_unlock(&v->lock);
    return EK_OK;
}

static void write_tag(const struct ek_plan_view *v, char tag[EK_PLAN_TAG_BYTES])
{
    snprintf(tag, EK_PLAN_TAG_BYTES, "\"%" PRIu64 "-%016" PRIx64 "\"", v->now.version, v->now.hash);
}

void ek_plan_view_tag(struct ek_plan_view *v, char tag[EK_PLAN_TAG_BYTES])
{
    pthread_mutex_lock(&v->lock);
    write_tag(v, tag);
    pthread_mutex_unlock(&v->lock);
}

int ek_plan_view_json(struct ek_plan_view *v, char tag[EK_PLAN_TAG_BYTES], struct ek_buf *out)
{
    pthread_mutex_lock(&v->lock);
    write_tag(v, tag);
    ek_buf_add(out, v->now.text.data, v->now.text.length);
    pthread_mutex_unlock(&v->lock);
    return ek_buf_text(out, "\n");
}

int ek_plan_view_copy(struct ek_plan_view *v, struct ek_plan_document *out, bool *changed)
{
    pthread_mutex_lock(&v->lock);
    *changed = v->now.version != out->version || v->now.hash != out->hash;
    int rc = *changed ? ek_plan_document_copy(out, &v->now) : EK_OK;
    pthread_mutex_unlock(&v->lock);
    return rc;
}
