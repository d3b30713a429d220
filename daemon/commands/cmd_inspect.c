/* evenkeel inspect: what is in a profile, model or capture, and in the states in a capture. */
#include "daemon/files/check.h"
#include "daemon/base/cli.h"
#include "daemon/base/cli_parse.h"
#include "daemon/commands/inspect.h"

#include "base/file.h"
#include "assets/tensors.h"

#include <stdbool.h>
#include <string.h>

enum { KEY_JSON = 256, KEY_PLOT, KEY_MANIFEST };

struct arguments {
    const char *path, *plot, *features, *profile, *config;
    struct ek_dialect dialect;
    enum ek_inspect_form form;
    bool manifest;
};

static const struct argp_option OPTIONS[] = {
    {"json", KEY_JSON, NULL, 0, "For programs: one JSON object", 0},
    {"plot", KEY_PLOT, "FEATURE", 0,
     "Draw the distribution of a feature: of a profile, or of messages, which takes --features", 0},
    {"features", 'm', "FILE", 0, "With --plot: the manifest of the messages", 0},
    {"profile", 'p', "FILE", 0, "With --plot: training, beside the messages", 0},
    {"manifest", KEY_MANIFEST, NULL, 0,
     "Print a first manifest for the features of messages: names, and which look as if they had a "
     "scale; to be gone over",
     0},
    EK_DIALECT_OPTION,
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
    case KEY_MANIFEST:
        a->manifest = true;
        return 0;
    case 'c':
        a->config = arg;
        return 0;
    case 'm':
        a->features = arg;
        return 0;
    case 'p':
        a->profile = arg;
        return 0;
    case ARGP_KEY_END:
        if (a->plot && a->form == EK_INSPECT_JSON)
            argp_error(state, "--plot draws; the figures are there with --json alone");
        if (!a->plot && (a->features || a->profile))
            argp_error(state, "--features and --profile go with --plot");
        if (!a->plot && !a->manifest && a->config)
            argp_error(state, "--config goes with --manifest or --plot");
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
    OPTIONS,
    parse,
    "FILE",
    "Shows what is in a profile, a model or a capture."
    "\v  evenkeel inspect profile.ekp --plot price\n"
    "  evenkeel inspect scored.ekc --plot price -m features.yaml -p profile.ekp",
    NULL,
    NULL,
    NULL};

/* What printing came to. */
static int shown(int rc, struct ek_error *e)
{
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

static int profile(const struct arguments *a, struct ek_error *e)
{
    struct ek_profile *p;
    int rc = ek_profile_load(&p, a->path, e);
    if (rc)
        return rc;
    rc = a->plot ? ek_inspect_plot(p, a->plot, stdout, e)
                 : shown(ek_inspect_profile(p, a->form, stdout), e);
    ek_profile_free(p);
    return rc;
}

static int model(const struct arguments *a, struct ek_error *e)
{
    struct ek_model *m;
    if (a->plot)
        return ek_fail(e, EK_EUSAGE,
                       "%s: a model has no distribution to plot: profiles and messages do",
                       a->path);
    int rc = ek_model_load(&m, a->path, e);
    if (rc)
        return rc;
    rc = shown(ek_inspect_model(m, a->form, stdout), e);
    ek_model_free(m);
    return rc;
}

/* The first bytes of a file into `bytes`. Empty when it cannot be read, and for standard input,
 * which can be read only once. */
static void read_head(const char *path, struct ek_buf *bytes)
{
    struct ek_reader *r = NULL;
    size_t got = 0;
    if (!strcmp(path, "-") || ek_buf_reserve(bytes, EK_TENSORS_HEAD) ||
        ek_reader_open(&r, path, NULL))
        return;
    if (!ek_reader_read(r, bytes->data, EK_TENSORS_HEAD, &got, NULL))
        bytes->length = got;
    ek_reader_close(r);
}

static int messages(const struct arguments *a, struct ek_error *e)
{
    const struct ek_inspect_beside beside = {a->plot, a->features, a->profile, &a->dialect};
    if (!a->plot)
        return ek_inspect_capture(a->path, a->form, stdout, e);
    if (!a->features)
        return ek_fail(e, EK_EUSAGE, "%s: to plot messages --features is needed", a->path);
    return ek_inspect_plot_messages(a->path, &beside, stdout, e);
}

static int arrays(const struct arguments *a, bool certain, struct ek_error *e)
{
    struct ek_tensors *t;
    if (ek_tensors_read(&t, a->path, e))
        return certain || e->code == EK_EIO ? (int)e->code : messages(a, e);
    int is_profile = ek_tensors_text(t, "evenkeel_profile") != NULL;
    ek_tensors_free(t);
    return is_profile ? profile(a, e) : model(a, e);
}

static int inspect(const struct arguments *a, struct ek_error *e)
{
    struct ek_buf head;
    if (a->manifest)
        return ek_inspect_shape(a->path, &a->dialect, stdout, e);
    ek_buf_init(&head, 0);
    read_head(a->path, &head);
    int rc = arrays(a, ek_tensors_begins(head.data, head.length), e);
    ek_buf_release(&head);
    return rc;
}

int ek_cmd_inspect(int argc, char **argv)
{
    struct arguments a = {0};
    struct ek_error e;
    ek_cli_parse(&ARGP, argc, argv, 0, &a);
    if (!a.path)
        return ek_cli_usage("inspect", "name a file");
    if (ek_dialect_load(&a.dialect, a.config, &e))
        return ek_cli_fail(&e);
    int rc = inspect(&a, &e);
    ek_dialect_release(&a.dialect);
    if (!rc)
        return EK_EXIT_OK;
    if (e.code != EK_EUSAGE)
        ek_kind_explain(a.path, EK_KIND_UNKNOWN, &e);
    return ek_cli_fail(&e);
}
