/* Errors and version of the public interface. */
#include "guard/public.h"

#include "base/alloc.h"
#include "base/error.h"
#include "evenkeel.h"
#include "guard/guard_internal.h"

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

const struct ek_detector *ek_guard_detector(const struct ek_guard *g)
{
    return g->detector;
}
