/* evenkeel inspect: what is in a profile, model, capture or snapshot. */
#include "daemon/check.h"
#include "daemon/cli.h"
#include "daemon/inspect.h"

#include "base/file.h"
#include "data/tensors.h"
#include "decide/snapshot_frame.h"

#include <argp.h>
#include <stdbool.h>
#include <string.h>

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
    OPTIONS, parse,
    "FILE",  "Shows what is in a profile, a model, a capture or a snapshot of a detector.",
    NULL,    NULL,
    NULL};

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

/* Reads a snapshot whole; `bytes` is empty when the file is something else, or cannot be read. */
static void read_snapshot(const char *path, struct ek_buf *bytes)
{
    enum { HEAD = 8 };
    struct ek_reader *r = NULL;
    size_t got = 0;
    if (ek_buf_reserve(bytes, HEAD) || ek_reader_open(&r, path, NULL))
        return;
    int rc = ek_reader_read(r, bytes->data, HEAD, &got, NULL);
    if (!rc && ek_snapshot_begins(bytes->data, got)) {
        bytes->length = got;
        if (ek_reader_rest(r, bytes, NULL))
            ek_buf_clear(bytes);
    }
    ek_reader_close(r);
}

static int snapshot(const struct arguments *a, bool *is_one, struct ek_error *e)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    if (strcmp(a->path, "-") != 0)
        read_snapshot(a->path, &bytes);
    *is_one = bytes.length > 0;
    int rc = *is_one ? ek_inspect_snapshot(&bytes, a->form, stdout, e) : EK_OK;
    ek_buf_release(&bytes);
    return rc ? ek_error_place(e, a->path, 0, 0) : EK_OK;
}

static int inspect(const struct arguments *a, struct ek_error *e)
{
    struct ek_tensors *t;
    bool is_snapshot;
    int rc = snapshot(a, &is_snapshot, e);
    if (is_snapshot)
        return rc;
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
