/* Errors, version and findings of the public interface. */
#include "guard/public.h"

#include "base/alloc.h"
#include "base/error.h"
#include "evenkeel.h"
#include "guard/event.h"
#include "guard/guard_internal.h"

#include <math.h>
#include <string.h>

struct public_error {
    struct ek_error error; /* first member: callers have a pointer to it */
    char text[700];
};

struct ek_error *ek_error_new(void)
{
    struct public_error *e = ek_calloc(1, sizeof *e);
    return e ? &e->error : NULL;
}

void ek_error_free(struct ek_error *e)
{
    ek_free(e);
}

const char *ek_error_message(const struct ek_error *e)
{
    struct public_error *held = (struct public_error *)(uintptr_t)e;
    return e->code == EK_OK ? "" : ek_error_text(e, held->text, sizeof held->text);
}

#ifndef EK_VERSION
#error "the build names the version"
#endif

const char *ek_version(void)
{
    return EK_VERSION;
}

static const struct ek_event_finding *finding_of(const struct ek_event *v)
{
    return v->kind == EK_EVENT_FINDING ? &v->finding : NULL;
}

int ek_event_is_finding(const struct ek_event *v)
{
    return finding_of(v) != NULL;
}

const char *ek_event_state(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f ? ek_finding_state_name(f->state) : NULL;
}

uint32_t ek_event_finding_number(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f ? f->number : 0;
}

const char *ek_event_feature(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f ? f->at.feature : NULL;
}

const char *ek_event_segment(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f ? f->at.dimension : NULL;
}

const char *ek_event_segment_value(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return !f || !f->at.dimension ? NULL : f->at.value ? f->at.value : EK_SEGMENT_OTHER;
}

const char *ek_event_class(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f && f->class != EK_CLASS_NONE ? ek_class_name(f->class) : NULL;
}

double ek_event_factor(const struct ek_event *v, double *low, double *high)
{
    const struct ek_event_finding *f = finding_of(v);
    if (low)
        *low = f ? f->factor_low : NAN;
    if (high)
        *high = f ? f->factor_high : NAN;
    return f ? f->factor : NAN;
}

double ek_event_fraction(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f ? f->fraction : NAN;
}

int64_t ek_event_since(const struct ek_event *v, uint64_t *list)
{
    const struct ek_event_finding *f = finding_of(v);
    if (list)
        *list = f ? f->since_query : 0;
    return f ? f->since_ms : -1;
}

const char *ek_event_unit(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f && f->units ? f->unit[0] : NULL;
}

const char *ek_event_action(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f ? ek_action_name(f->action) : NULL;
}

const char *ek_event_mode(const struct ek_event *v)
{
    const struct ek_event_finding *f = finding_of(v);
    return f ? ek_mode_name(f->mode) : NULL;
}

const struct ek_detector *ek_guard_detector(const struct ek_guard *g)
{
    return g->detector;
}
