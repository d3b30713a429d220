/* Command `export`: converts a model for other runtimes. */
#include "base/json.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/files/file_kind.h"
#include "offline/train/onnx.h"

#include <stddef.h>
#include <stdio.h>

struct export_args {
    const char *model, *output;
    bool onnx, json;
    struct ek_error e;
};

enum { OPT_ONNX = 256, OPT_JSON };

static const struct argp_option OPTIONS[] = {
    {"onnx", OPT_ONNX, NULL, 0, "Write ONNX, the only format (required)", 0},
    {"output", 'o', "FILE", 0, "Output file (required)", 0},
    {"json", OPT_JSON, NULL, 0, "Print the inputs of the model as JSON", 0},
    {0}};

static void finish(struct argp_state *state, const struct export_args *a)
{
    if (!a->onnx)
        argp_error(state, "--onnx is needed");
    if (!a->model)
        argp_error(state, "a model is needed");
    if (!a->output)
        argp_error(state, "-o is needed");
    if (a->json && ek_is_stdout(a->output))
        argp_error(state, "the model goes to standard output; --json needs -o FILE");
}

static const struct ek_cli_slot SLOTS[] = {{OPT_ONNX, offsetof(struct export_args, onnx)},
                                           {OPT_JSON, offsetof(struct export_args, json)},
                                           {'o', offsetof(struct export_args, output)},
                                           {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct export_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case ARGP_KEY_ARG:
        if (a->model)
            argp_error(state, "unexpected '%s'; one model at a time", arg);
        a->model = arg;
        return 0;
    case ARGP_KEY_END:
        finish(state, a);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Print the inputs that a user of the model must supply. */
static void print_result(const struct export_args *a, const struct ek_model *m)
{
    fprintf(stderr, "%s: items [n, %d]", a->output, m->item_features);
    if (m->query_features)
        fprintf(stderr, ", query [%d]", m->query_features);
    if (m->routable_count)
        fprintf(stderr, ", mask [%d]", m->routable_count);
    fputs(" -> scores [n]\n", stderr);
}

/* Routable features have the order of the mask. */
static int print_json(struct export_args *a, const struct ek_model *m)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_text(&s, "output", a->output);
    ek_json_add_text(&s, "model", a->model);
    ek_json_add_count(&s, "item_features", (uint64_t)m->item_features);
    ek_json_add_count(&s, "query_features", (uint64_t)m->query_features);
    ek_json_open(&s, "routable", '[');
    for (int k = 0; k < m->routable_count; k++)
        ek_json_add_text(&s, NULL, m->item_names[m->routable[k]]);
    ek_json_close(&s, ']');
    return ek_json_end_line(&s, stdout, &a->e);
}

int ek_cmd_export(int argc, char **argv)
{
    static const char doc[] = "Write a model as ONNX, for other runtimes to serve the same "
                              "network.\v  evenkeel export --onnx model.safetensors -o model.onnx";
    static const struct argp argp = {OPTIONS, parse, "MODEL", doc, NULL, NULL, NULL};
    struct export_args a = {0};
    struct ek_model *m;
    ek_cli_parse(&argp, argc, argv, 0, &a);
    int rc = ek_model_load(&m, a.model, &a.e);
    if (rc) {
        ek_kind_explain(a.model, EK_KIND_MODEL, &a.e);
        return ek_cli_fail(&a.e);
    }
    rc = ek_model_require_network(m, a.model, "export needs", &a.e);
    if (!rc)
        rc = ek_model_onnx_write(m, a.output, &a.e);
    if (!rc)
        print_result(&a, m);
    if (!rc && a.json)
        rc = print_json(&a, m);
    ek_model_free(m);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
