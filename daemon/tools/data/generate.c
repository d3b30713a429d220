/* Command `generate`: writes synthetic lists, optionally with faults. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/files/field_mapping.h"
#include "daemon/tools/data/list_writer.h"
#include "daemon/files/list_input.h"
#include "lists/dataset.h"
#include "offline/world/hotel.h"

#include <stdio.h>
#include <string.h>

enum { MEDIAN_LISTS = 2000 };

struct gen {
    struct ek_list_writer_options sink;
    const char **faults;
    const char *world, *manifest_out;
    uint64_t queries, first;
    bool has_encoding;
    struct ek_error e;
};

enum {
    OPT_FROM = 256,
    OPT_SOURCES,
    OPT_FAULT,
    OPT_MODEL,
    OPT_MANIFEST,
    OPT_ENCODING,
    OPT_LAYOUT,
    OPT_JSON
};

static const struct argp_option OPTIONS[] = {
    {"lists", 'n', "N", 0, "Number of lists (10000)", 0},
    {"seed", 's', "S", 0, "Random seed (7)", 0},
    {"from", OPT_FROM, "I", 0, "Number of the first list (0), to generate in parts", 0},
    {"format", 'f', "FORMAT", 0, "Format: letor (text) or messages (letor)", 0},
    {"encoding", OPT_ENCODING, "KIND", 0,
     "Encoding of features in messages: array, bin or map; json or json-map: JSON, one message per "
     "line (array)",
     0},
    {"layout", OPT_LAYOUT, "KIND", 0, "Contents of a message: list or item (list)", 0},
    {"sources", OPT_SOURCES, "N", 0,
     "Draw the source of each item of messages from N numbers, from 0", 0},
    {"fault", OPT_FAULT, "SPEC", 0, "Fault to inject, see below; repeatable", 0},
    {"upstream-model", OPT_MODEL, "FILE", 0,
     "Model for upstream scores, without routes and with the faults; default: scores are 0", 0},
    {"manifest-out", OPT_MANIFEST, "FILE", 0, "Write the manifest of the lists", 0},
    {"output", 'o', "FILE", 0, "Output file (standard output); .gz and .zst are compressed", 0},
    {"json", OPT_JSON, NULL, 0, "Print the number of lists and items as JSON; needs -o", 0},
    {0}};

static void number(struct argp_state *state, const char *name, const char *arg, uint64_t *out)
{
    if (ek_parse_u64(arg, EK_WHOLE, out))
        argp_error(state, "--%s needs a whole number, not '%s'", name, arg);
}

static void format(struct argp_state *state, const char *arg, bool *letor)
{
    if (strcmp(arg, "letor") != 0 && strcmp(arg, "messages") != 0)
        argp_error(state, "unknown format '%s' (letor, messages)", arg);
    *letor = !strcmp(arg, "letor");
}

static void world(struct argp_state *state, struct gen *g, const char *arg)
{
    if (g->world)
        argp_error(state, "unexpected argument '%s'", arg);
    if (strcmp(arg, "hotel") != 0)
        argp_error(state, "unknown generator '%s'; use 'hotel'", arg);
    g->world = arg;
}

static void finish(struct argp_state *state, const struct gen *g)
{
    if (!g->world)
        argp_error(state, "a generator is needed: 'hotel'");
    if (g->sink.letor && g->sink.upstream.model)
        argp_error(state, "LETOR text has no scores; --upstream-model needs --format messages");
    if (g->sink.letor && g->sink.layout == EK_LAYOUT_ITEM)
        argp_error(state, "LETOR text has no layout; --layout needs --format messages");
    if (g->sink.letor && g->sink.sources)
        argp_error(state, "LETOR text has no sources; --sources needs --format messages");
    if (g->sink.letor && g->has_encoding)
        argp_error(state, "LETOR text has one encoding; --encoding needs --format messages");
    if (g->manifest_out && !ek_is_stdout(g->sink.path) && !strcmp(g->manifest_out, g->sink.path))
        argp_error(state, "'%s' cannot be both -o and --manifest-out", g->sink.path);
    if (ek_is_stdout(g->sink.path) + ek_is_stdout(g->manifest_out) + g->sink.json > 1)
        argp_error(state, "only one of the lists, --manifest-out and --json can use standard "
                          "output; name a file with -o");
    if (g->queries > UINT64_MAX - g->first)
        argp_error(state, "--from and --lists together are too large");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct gen *g = state->input;
    switch (key) {
    case 'n':
        number(state, "lists", arg, &g->queries);
        break;
    case 's':
        number(state, "seed", arg, &g->sink.upstream.seed);
        break;
    case OPT_FROM:
        number(state, "from", arg, &g->first);
        break;
    case 'f':
        format(state, arg, &g->sink.letor);
        break;
    case OPT_ENCODING:
        g->has_encoding = true;
        if (ek_encoding_parse(arg, &g->sink.encoding, &g->e))
            argp_error(state, "%s", g->e.message);
        break;
    case OPT_LAYOUT:
        if (ek_layout_parse(arg, &g->sink.layout, &g->e))
            argp_error(state, "%s", g->e.message);
        break;
    case OPT_SOURCES:
        g->sink.sources = ek_parse_sources(state, arg);
        break;
    case OPT_FAULT:
        g->faults[g->sink.upstream.fault_count++] = arg;
        break;
    case OPT_MODEL:
        g->sink.upstream.model = arg;
        break;
    case OPT_MANIFEST:
        g->manifest_out = arg;
        break;
    case OPT_JSON:
        g->sink.json = true;
        break;
    case 'o':
        g->sink.path = arg;
        break;
    case ARGP_KEY_ARG:
        world(state, g, arg);
        break;
    case ARGP_KEY_END:
        finish(state, g);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int fit(struct gen *g, struct ek_hotel *hotel, struct ek_list *q,
               struct ek_upstream_sim *upstream)
{
    struct ek_dataset d;
    uint64_t lists = g->queries < MEDIAN_LISTS ? g->queries : MEDIAN_LISTS;
    int rc = EK_OK;
    if (!ek_upstream_sim_needs_fit(upstream))
        return EK_OK;
    ek_dataset_init(&d, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    for (uint64_t i = 0; i < lists && !rc; i++) {
        rc = ek_hotel_list(hotel, g->first + i, q, &g->e);
        if (!rc)
            rc = ek_dataset_add(&d, q, &g->e);
    }
    if (!rc)
        rc = ek_upstream_sim_fit(upstream, &d, &g->e);
    ek_dataset_release(&d);
    return rc;
}

static int write_lists(struct gen *g, struct ek_hotel *hotel, struct ek_list *q,
                       struct ek_list_writer *sink)
{
    struct ek_progress progress;
    int rc = fit(g, hotel, q, ek_list_writer_upstream(sink));
    ek_progress_start(&progress, "generating");
    for (uint64_t i = 0; i < g->queries && !rc; i++) {
        rc = ek_hotel_list(hotel, g->first + i, q, &g->e);
        if (!rc)
            rc = ek_list_writer_write(sink, q, g->first + i, &g->e);
        ek_progress_update(&progress, i, g->queries, NULL);
    }
    if (!rc) {
        char note[40];
        snprintf(note, sizeof note, "%llu lists", (unsigned long long)g->queries);
        ek_progress_finish(&progress, note);
    }
    return rc;
}

static int generate(struct gen *g)
{
    struct ek_hotel *hotel;
    struct ek_list_writer *sink;
    struct ek_list q;
    int rc = ek_hotel_new(&hotel, g->sink.upstream.seed, &g->e);
    if (rc)
        return rc;
    rc = ek_list_writer_open(&sink, &g->sink, &g->e);
    if (!rc) {
        ek_list_init(&q);
        rc = write_lists(g, hotel, &q, sink);
        ek_list_release(&q);
        if (rc)
            ek_list_writer_abort(sink);
        else
            rc = ek_list_writer_close(sink, &g->e);
    }
    ek_hotel_free(hotel);
    return rc;
}

static int with_manifest(struct gen *g)
{
    struct ek_manifest *manifest;
    const char *text = ek_hotel_manifest();
    int rc = ek_manifest_parse(&manifest, "hotel", text, strlen(text), &g->e);
    if (rc)
        return rc;
    g->sink.upstream.manifest = manifest;
    if (g->manifest_out) /* first, because an error here takes no time */
        rc = ek_file_write(g->manifest_out, ek_hotel_manifest(), &g->e);
    if (!rc)
        rc = generate(g);
    ek_manifest_free(manifest);
    return rc;
}

int ek_cmd_generate(int argc, char **argv)
{
    static const char doc[] =
        "Generate hotel searches with bookings as LETOR text or messages. Faults may start at a "
        "list, and affect a fraction or an arm.\vA fault is "
        "FEATURE[,FEATURE]=OPERATION[,from=N][,to=N][,share=S][,items=S][,source=N][,SEGMENT=VALUE]"
        ". Operations: x100, ^2, +50, -50, +1median (of the feature), *QUERYFEATURE, neg, zero, "
        "nan, =7 (set), currency (one of seven rates for each list), recode (each code becomes the "
        "next one). Lists are numbered from 0.\n\n  evenkeel generate hotel --fault "
        "price=x100,from=50,share=0.5,arm=B -o t.txt";
    static const struct argp argp = {OPTIONS, parse, "hotel", doc, NULL, NULL, NULL};
    struct gen g = {.queries = 10000, .sink = {.path = "-", .letor = true, .command = "generate"}};
    g.sink.upstream.seed = 7;
    g.faults = ek_calloc((size_t)argc, sizeof *g.faults);
    if (!g.faults) {
        ek_fail(&g.e, EK_ENOMEM, "out of memory");
        return ek_cli_fail(&g.e);
    }
    g.sink.upstream.faults = g.faults;
    ek_cli_parse(&argp, argc, argv, 0, &g);
    int rc = with_manifest(&g);
    ek_free(g.faults);
    return rc ? ek_cli_fail(&g.e) : EK_EXIT_OK;
}
