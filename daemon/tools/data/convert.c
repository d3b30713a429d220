/* Command `convert`: writes LETOR lists as messages. */
#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/files/field_mapping.h"
#include "daemon/files/file_kind.h"
#include "daemon/tools/data/list_writer.h"
#include "daemon/files/list_input.h"
#include "lists/letor.h"

#include <stdio.h>

struct convert {
    struct ek_list_writer_options sink;
    const char *manifest;
    const char **files, **faults;
    size_t file_count;
    struct ek_segment_sampler draw;
    uint64_t done;
    struct ek_progress progress;
    struct ek_error e;
};

enum { OPT_MODEL = 256, OPT_SEGMENT, OPT_SOURCES, OPT_FAULT, OPT_ENCODING, OPT_LAYOUT, OPT_JSON };

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML, required)", 0},
    {"letor", 'l', "FILE...", 0,
     "LETOR files, plain or compressed, - for standard input; takes several", 0},
    {"upstream-model", OPT_MODEL, "FILE", 0,
     "Model for upstream scores, without routes and with the faults; default: scores are 0", 0},
    {"segment", OPT_SEGMENT, "NAME=V1,V2...", 0,
     "Segment dimension and values, one drawn for each list; repeatable", 0},
    {"sources", OPT_SOURCES, "N", 0, "Draw the source of each item from N numbers, from 0", 0},
    {"fault", OPT_FAULT, "SPEC", 0, "Fault to inject, as in `evenkeel generate`; repeatable", 0},
    {"seed", 's', "S", 0, "Random seed of segment values, sources and fractions of faults (0)", 0},
    {"encoding", OPT_ENCODING, "KIND", 0,
     "Encoding of features: array, bin or map; json or json-map: JSON, one message per line "
     "(array)",
     0},
    {"layout", OPT_LAYOUT, "KIND", 0, "Contents of a message: list or item (list)", 0},
    {"output", 'o', "FILE", 0, "Output file (standard output); .gz and .zst are compressed", 0},
    {"json", OPT_JSON, NULL, 0, "Print the number of lists and items as JSON; needs -o", 0},
    {0}};

static void finish(struct argp_state *state, const struct convert *c)
{
    if (!c->manifest)
        argp_error(state, "--manifest is needed");
    if (!c->file_count)
        argp_error(state, "--letor is needed");
    if (c->sink.json && ek_is_stdout(c->sink.path))
        argp_error(state, "the lists go to standard output; --json needs -o FILE");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct convert *c = state->input;
    switch (key) {
    case 'm':
        c->manifest = arg;
        break;
    case 'l':
    case ARGP_KEY_ARG:
        c->files[c->file_count++] = arg;
        break;
    case OPT_MODEL:
        c->sink.upstream.model = arg;
        break;
    case OPT_SEGMENT:
        if (ek_segment_sampler_add(&c->draw, arg, &c->e))
            argp_error(state, "%s", c->e.message);
        break;
    case OPT_SOURCES:
        c->sink.sources = ek_parse_sources(state, arg);
        break;
    case OPT_FAULT:
        c->faults[c->sink.upstream.fault_count++] = arg;
        break;
    case 's':
        if (ek_parse_u64(arg, EK_WHOLE, &c->sink.upstream.seed))
            argp_error(state, "--seed needs a whole number, not '%s'", arg);
        break;
    case OPT_ENCODING:
        if (ek_encoding_parse(arg, &c->sink.encoding, &c->e))
            argp_error(state, "%s", c->e.message);
        break;
    case OPT_LAYOUT:
        if (ek_layout_parse(arg, &c->sink.layout, &c->e))
            argp_error(state, "%s", c->e.message);
        break;
    case OPT_JSON:
        c->sink.json = true;
        break;
    case 'o':
        c->sink.path = arg;
        break;
    case ARGP_KEY_END:
        finish(state, c);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int fit(struct convert *c, struct ek_upstream_sim *upstream)
{
    const struct ek_manifest *m = c->sink.upstream.manifest;
    struct ek_dataset d;
    int rc = EK_OK;
    if (!ek_upstream_sim_needs_fit(upstream))
        return EK_OK;
    for (size_t i = 0; i < c->file_count; i++)
        if (!ek_kind_can_reread(c->files[i]))
            return ek_fail(&c->e, EK_EUSAGE,
                           "a fault that depends on the values of the lists "
                           "reads them twice: name a file instead of '%s'",
                           c->files[i]);
    ek_dataset_init(&d, m->item_count, m->query_count);
    for (size_t i = 0; i < c->file_count && !rc; i++)
        rc = ek_dataset_read_letor(&d, m, c->files[i], &c->e);
    if (!rc)
        rc = ek_upstream_sim_fit(upstream, &d, &c->e);
    ek_dataset_release(&d);
    return rc;
}

static int convert_lists(struct convert *c, struct ek_letor *letor, struct ek_list *q,
                         struct ek_list_writer *sink)
{
    uint64_t at, total;
    bool more;
    int rc;
    while (!(rc = ek_letor_next(letor, q, &more, &c->e)) && more) {
        rc = ek_segment_sampler_apply(&c->draw, q, c->done, c->sink.upstream.seed, &c->e);
        if (!rc)
            rc = ek_list_writer_write(sink, q, c->done, &c->e);
        if (rc)
            return rc;
        c->done++;
        ek_letor_position(letor, &at, &total);
        ek_progress_update(&c->progress, at, total, NULL);
    }
    return rc;
}

static int convert_file(struct convert *c, const char *path, struct ek_list *q,
                        struct ek_list_writer *sink)
{
    struct ek_letor *letor;
    int rc = ek_letor_open(&letor, c->sink.upstream.manifest, path, &c->e);
    if (rc)
        return rc;
    uint64_t before = c->done;
    rc = convert_lists(c, letor, q, sink);
    if (!rc && c->done == before)
        rc = ek_fail_at(&c->e, EK_EFORMAT, path, 0, 0, "the file has no lists");
    ek_letor_close(letor);
    return rc;
}

static int convert_files(struct convert *c, struct ek_list_writer *sink)
{
    struct ek_list q;
    int rc = fit(c, ek_list_writer_upstream(sink));
    ek_list_init(&q);
    ek_progress_start(&c->progress, "converting");
    for (size_t i = 0; i < c->file_count && !rc; i++)
        rc = convert_file(c, c->files[i], &q, sink);
    ek_list_release(&q);
    if (!rc) {
        char note[40];
        snprintf(note, sizeof note, "%llu lists", (unsigned long long)c->done);
        ek_progress_finish(&c->progress, note);
    }
    return rc;
}

static int with_manifest(struct convert *c)
{
    struct ek_manifest *manifest;
    struct ek_list_writer *sink;
    int rc = ek_manifest_load(&manifest, c->manifest, &c->e);
    if (rc)
        return ek_kind_explain(c->manifest, EK_KIND_MANIFEST, &c->e);
    c->sink.upstream.manifest = manifest;
    rc = ek_list_writer_open(&sink, &c->sink, &c->e);
    if (!rc) {
        rc = convert_files(c, sink);
        if (rc)
            ek_list_writer_abort(sink);
        else
            rc = ek_list_writer_close(sink, &c->e);
    }
    ek_manifest_free(manifest);
    return rc;
}

int ek_cmd_convert(int argc, char **argv)
{
    static const char doc[] =
        "Convert LETOR lists to messages. Labels become the item field `label`.\v  evenkeel "
        "convert -m features.yaml --letor lists.txt -o lists.msgpack";
    static const struct argp argp = {OPTIONS, parse, "[FILE...]", doc, NULL, NULL, NULL};
    struct convert c = {.sink = {.path = "-", .command = "convert"}};
    c.files = ek_calloc((size_t)argc, sizeof *c.files);
    c.faults = ek_calloc((size_t)argc, sizeof *c.faults);
    int rc = c.files && c.faults ? EK_OK : ek_fail(&c.e, EK_ENOMEM, "out of memory");
    if (!rc) {
        c.sink.upstream.faults = c.faults;
        ek_cli_parse(&argp, argc, argv, 0, &c);
        rc = with_manifest(&c);
    }
    ek_segment_sampler_release(&c.draw);
    ek_free(c.files);
    ek_free(c.faults);
    return rc ? ek_cli_fail(&c.e) : EK_EXIT_OK;
}
