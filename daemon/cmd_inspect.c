/* evenkeel inspect: what is in a profile, model or capture. */
#include "daemon/check.h"
#include "daemon/cli.h"
#include "daemon/inspect.h"

#include "data/tensors.h"

#include <argp.h>

enum { KEY_JSON = 256, KEY_PLOT };

struct arguments {
    const char *path, *plot;
    enum ek_inspect_form form;
};

static const struct argp_option OPTIONS[] = {
    {"json", KEY_JSON, NULL, 0, "for programs: one JSON object", 0},
    {"plot", KEY_PLOT, "FEATURE", 0, "draw the distribution of a feature in the profile", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case KEY_JSON:
        a->form = EK_INSPECT_JSON;
        return 0;
    case KEY_PLOT:
        a->plot = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (a->path)
            argp_error(state, "one file at a time");
        a->path = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    OPTIONS, parse, "FILE", "Shows what is in a profile, a model or a capture.", NULL, NULL, NULL};

static int profile(const struct arguments *a, struct ek_error *e)
{
    struct ek_profile *p;
    int rc = ek_profile_load(&p, a->path, e);
    if (rc)
        return rc;
    rc = a->plot ? ek_inspect_plot(p, a->plot, stdout, e) : ek_inspect_profile(p, a->form, stdout);
    ek_profile_free(p);
    return rc;
}

static int model(const struct arguments *a, struct ek_error *e)
{
    struct ek_model *m;
    int rc = ek_model_load(&m, a->path, e);
    if (rc)
        return rc;
    rc = ek_inspect_model(m, a->form, stdout);
    ek_model_free(m);
    return rc;
}

static int inspect(const struct arguments *a, struct ek_error *e)
{
    struct ek_tensors *t;
    if (ek_tensors_read(&t, a->path, e))
        return e->code == EK_EIO ? EK_EIO : ek_inspect_capture(a->path, a->form, stdout, e);
    int is_profile = ek_tensors_text(t, "evenkeel_profile") != NULL;
    ek_tensors_free(t);
    return is_profile ? profile(a, e) : model(a, e);
}

int ek_cmd_inspect(int argc, char **argv)
{
    struct arguments a = {0};
    struct ek_error e;
    argp_parse(&ARGP, argc, argv, 0, NULL, &a);
    if (!a.path)
        return ek_cli_usage("inspect", "name a file");
    if (!inspect(&a, &e))
        return EK_EXIT_OK;
    if (e.code != EK_EUSAGE)
        ek_kind_explain(a.path, EK_KIND_UNKNOWN, &e);
    return ek_cli_fail(&e);
}
