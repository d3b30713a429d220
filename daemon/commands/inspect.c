/* Command `inspect`: prints a profile, model or capture, and checkpoints in a capture. */
#include "daemon/commands/inspect.h"

#include "assets/tensors.h"
#include "base/alloc.h"
#include "base/date.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/commands/capture.h"
#include "daemon/commands/inspect_messages.h"
#include "daemon/files/field_mapping.h"
#include "daemon/files/file_kind.h"
#include "guard/state.h"
#include "lists/capture.h"
#include "lists/codec.h"
#include "schema/manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct arguments {
    const char *path, *plot, *manifest, *profile, *config, *schema;
    struct ek_field_mapping field_mapping;
    enum ek_inspect_form form;
    bool suggest_manifest, suggest_mapping;
};

/* Histograms of `inspect --plot`: training, messages, or both side by side. */

enum { ROWS = 20, WIDTH = 60, WIDTH_LEAST = 6, EIGHTHS = 8, LABEL = 12, FOOT = 160 };
static const double TAIL = 0.001; /* fraction of the values in each outermost row */

/* Distribution of |values| of one side. */
struct side {
    const char *title;
    const struct ek_sketch *sketch;
    double count[ROWS], most;
};

/* Return ln|x| at a quantile of the finite non-zero values. */
static double quantile(const struct ek_sketch *s, double share)
{
    /* Keys of negative values are 16384 higher, so advance through both signs together. */
    double total = 0, so_far = 0, last = NAN;
    for (int pass = 0; pass < 2; pass++) {
        for (int key = 0; key < EK_SKETCH_NEG_ZERO; key++) {
            double ln = ek_sketch_ln((uint16_t)key);
            if (!isfinite(ln))
                continue;
            double n = (double)(ek_sketch_count(s, (uint16_t)key) +
                                ek_sketch_count(s, (uint16_t)(key + EK_SKETCH_NEG_ZERO)));
            if (!pass)
                total += n;
            else if (n > 0 && (last = ln, so_far += n) >= share * total)
                return ln;
        }
    }
    return last;
}

static void fill(struct side *s, double low, double step)
{
    for (int key = 0; key < EK_SKETCH_KEYS; key++) {
        double ln = ek_sketch_ln((uint16_t)key);
        if (!isfinite(ln))
            continue;
        int row = (int)floor((ln - low) / step);
        row = row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
        s->count[row] += (double)ek_sketch_count(s->sketch, (uint16_t)key);
    }
    for (int i = 0; i < ROWS; i++)
        s->most = fmax(s->most, s->count[i]);
}

/* Print a bar relative to the longest one, padded to `width` columns if `pad`. */
static void bar(double share, int width, bool utf8, bool pad, FILE *to)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = (int)lround(share * width * EIGHTHS), columns = 0;
    if (!utf8)
        eighths = (int)lround(share * width) * EIGHTHS;
    for (; columns < eighths / EIGHTHS; columns++)
        fputs(utf8 ? "█" : "#", to);
    if (eighths % EIGHTHS)
        columns += fputs(parts[eighths % EIGHTHS], to) >= 0;
    else if (share > 0 && !columns)
        columns += fputs(utf8 ? parts[1] : ".", to) >= 0;
    if (pad)
        fprintf(to, "%*s", width - columns, "");
}

static void foot(const struct side *s, int columns, FILE *to)
{
    struct ek_sketch_summary sum;
    char text[FOOT];
    ek_sketch_summarize(s->sketch, &sum);
    double of = sum.total ? 100 / (double)sum.total : 0;
    int length =
        snprintf(text, sizeof text,
                 "%-*s median %.4g, zero %.1f%%, missing %.1f%%, negative %.1f%% of %" PRIu64,
                 LABEL, s->title, sum.p50, (double)sum.zero * of, (double)sum.missing * of,
                 (double)sum.negative * of, sum.total);
    if (length < columns)
        fprintf(to, "%s\n", text);
    else
        ek_print_wrapped(text, columns - 1, to);
}

/* Return the width of a bar: the columns next to the labels, divided by the sides. */
static int width_of_bars(int columns, int sides)
{
    int all = columns - 1 - LABEL - 1 - 2 * sides, width = all / sides;
    int most = WIDTH / sides;
    return width > most ? most : width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

static void draw(const char *feature, struct side *sides, int count, FILE *to)
{
    double low = INFINITY, high = -INFINITY;
    bool utf8 = ek_terminal_utf8();
    int columns, rows;
    ek_terminal_size(to, &columns, &rows);
    int width = width_of_bars(columns, count);
    for (int i = 0; i < count; i++) {
        low = fmin(low, quantile(sides[i].sketch, TAIL)); /* fmin ignores NaN */
        high = fmax(high, quantile(sides[i].sketch, 1 - TAIL));
    }
    fprintf(to, "%s: |values|, log scale\n", feature);
    double step = fmax((high - low) / ROWS, 1e-3);
    for (int i = 0; isfinite(low) && i < count; i++)
        fill(&sides[i], low, step);
    if (count > 1)
        fprintf(to, "%*s  %-*s  %s\n", LABEL, "", width, sides[0].title, sides[1].title);
    for (int row = 0; isfinite(low) && row < ROWS; row++) {
        fprintf(to, "%*.4g ", LABEL, exp(low + row * step));
        for (int i = 0; i < count; i++) {
            fputs("|", to);
            bar(sides[i].most > 0 ? sides[i].count[row] / sides[i].most : 0, width, utf8,
                i + 1 < count, to);
            fputs(i + 1 < count ? " " : "\n", to);
        }
    }
    for (int i = 0; i < count; i++)
        foot(&sides[i], columns, to);
}

static int find(const struct ek_profile *p, const char *name, struct ek_error *e)
{
    for (int f = 0; f < p->features; f++)
        if (!strcmp(p->name[f], name))
            return f;
    const char *near = ek_nearest_name(name, (const char *const *)p->name, (size_t)p->features);
    if (near)
        ek_fail(e, EK_EUSAGE, "no feature '%s' in the profile, did you mean '%s'?", name, near);
    else
        ek_fail(e, EK_EUSAGE, "no feature '%s' in the profile", name);
    return -1;
}

/* Draw the training distribution of a feature's |values| on a log scale in at most 79 columns,
 * with block characters in a UTF-8 locale, else ASCII. Return 0, or EK_EUSAGE for an unknown
 * feature. */
static int plot_training(const struct ek_profile *p, const char *feature, FILE *to,
                         struct ek_error *e)
{
    int f = find(p, feature, e);
    if (f < 0)
        return EK_EUSAGE;
    draw(feature, &(struct side){.title = "training", .sketch = p->sketch[f]}, 1, to);
    return EK_OK;
}

/* Values of one feature in messages. */
struct plot_lists {
    int feature;
    struct ek_sketch *sketch;
};

static int add_to_sketch(void *context, struct ek_list *q, uint64_t number, struct ek_error *e)
{
    const struct plot_lists *t = context;
    (void)number;
    (void)e;
    for (int i = 0; i < q->items; i++)
        ek_sketch_add(t->sketch, q->x[(size_t)i * (size_t)q->item_features + (size_t)t->feature],
                      1);
    return EK_OK;
}

static int draw_comparison(const struct ek_profile *p, const struct arguments *a,
                           const struct plot_lists *t, FILE *to, struct ek_error *e)
{
    struct side sides[2] = {{.title = "training"}, {.title = "messages", .sketch = t->sketch}};
    int f = p ? find(p, a->plot, e) : 0;
    if (f < 0)
        return EK_EUSAGE;
    if (p)
        sides[0].sketch = p->sketch[f];
    draw(a->plot, p ? sides : sides + 1, p ? 2 : 1, to);
    return EK_OK;
}

static int read_messages(const struct ek_manifest *m, const struct arguments *a,
                         struct plot_lists *t, struct ek_error *e)
{
    t->feature = ek_manifest_item(m, a->plot);
    if (t->feature < 0)
        return ek_fail(e, EK_EUSAGE, "no item feature '%s' in %s", a->plot, a->manifest);
    if (ek_sketch_new(&t->sketch))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return ek_message_for_each(m, &a->field_mapping, a->path, add_to_sketch, t, e);
}

/* Draw the distribution in the messages of a file next to that of training. Return 0, EK_EUSAGE
 * without a distribution or with conflicting arguments, or an error of the files. */
static int plot_messages(const struct arguments *a, FILE *to, struct ek_error *e)
{
    struct ek_manifest *m = NULL;
    struct ek_profile *p = NULL;
    struct plot_lists t = {0};
    int rc = ek_manifest_load(&m, a->manifest, e);
    if (!rc && a->profile)
        rc = ek_profile_load(&p, a->profile, e);
    if (!rc)
        rc = read_messages(m, a, &t, e);
    if (!rc)
        rc = draw_comparison(p, a, &t, to, e);
    ek_sketch_free(t.sketch);
    ek_profile_free(p);
    ek_manifest_free(m);
    return rc;
}

/* Last complete full checkpoints among the records of a capture, by key prefix; starts as {0}. */
struct inspect_states {
    int count;
    size_t capacity;
    struct {
        char *prefix; /* key up to its last ':' */
        struct ek_state *state;
    } * of; /* [count] */
};

struct totals {
    struct ek_record_stats all;
    struct ek_hash_set partitions;
    struct inspect_states states;
};

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int check_memory(int rc, struct ek_error *e)
{
    return rc ? out_of_memory(e) : EK_OK;
}

static int grow(struct inspect_states *s, const char *prefix, size_t length, struct ek_error *e)
{
    void *of = ek_grow(s->of, (size_t)s->count, &s->capacity, sizeof *s->of);
    if (!of)
        return out_of_memory(e);
    s->of = of;
    s->of[s->count].state = NULL;
    s->of[s->count].prefix = ek_strndup(prefix, length);
    if (!s->of[s->count].prefix)
        return out_of_memory(e);
    return ek_state_new(&s->of[s->count++].state, e);
}

/* Find or add the state of a key prefix. */
static int state_of(struct inspect_states *s, const char *prefix, size_t length,
                    struct ek_state **out, struct ek_error *e)
{
    int i = 0, rc = EK_OK;
    while (i < s->count &&
           (strlen(s->of[i].prefix) != length || memcmp(s->of[i].prefix, prefix, length) != 0))
        i++;
    if (i == s->count)
        rc = grow(s, prefix, length, e);
    if (!rc)
        *out = s->of[i].state;
    return rc;
}

static int inspect_states_add(struct inspect_states *s, const struct ek_record *r,
                              struct ek_error *e)
{
    struct ek_record_frame frame;
    struct ek_state *state;
    struct ek_serialize body;
    if (!r->key || ek_record_open(r->bytes, r->length, &frame, &body, NULL))
        return EK_OK;
    const char *key = r->key, *end = key + r->key_length, *at = end;
    while (at > key && at[-1] != ':')
        at--;
    int rc = state_of(s, key, at > key ? (size_t)(at - key) - 1 : 0, &state, e);
    char *name = rc ? NULL : ek_strndup(at, (size_t)(end - at));
    if (!rc)
        rc = name ? ek_state_add(state, name, r->bytes, r->length, e) : out_of_memory(e);
    ek_free(name);
    return rc == EK_EFORMAT ? EK_OK : rc;
}

static int add_record(struct totals *t, const struct ek_record *r, struct ek_error *e)
{
    bool added;
    int64_t ms = r->timestamp_ms >= 0 ? r->timestamp_ms : ek_codec_time(r->bytes, r->length);
    ek_record_stats_add(&t->all, r->length, ms);
    if (ek_hash_set_add(&t->partitions, (uint64_t)r->partition + 1, &added))
        return out_of_memory(e);
    return inspect_states_add(&t->states, r, e);
}

static int count(const char *path, struct totals *t, struct ek_error *e)
{
    struct ek_capture_reader *in;
    struct ek_record record;
    int more, rc = ek_capture_open(&in, path, 0, e);
    if (rc)
        return rc;
    while (!(rc = ek_capture_next(in, &record, &more, e)) && more)
        if ((rc = add_record(t, &record, e)))
            break;
    ek_capture_close(in);
    return rc;
}

/* Size of the last complete full checkpoint. */
struct size {
    int records;
    uint64_t bytes;
};

static void inspect_states_release(struct inspect_states *s)
{
    for (int i = 0; i < s->count; i++) {
        ek_free(s->of[i].prefix);
        ek_state_free(s->of[i].state);
    }
    ek_free(s->of);
}

static struct size size_of(const struct ek_state *s)
{
    struct size size = {1, 0};
    for (int i = 0; i < s->count; i++) {
        size.records += s->record[i].needed;
        size.bytes += s->record[i].needed ? s->record[i].length : 0;
    }
    return size;
}

static void table(const char *prefix, const struct ek_state *s, FILE *to)
{
    const struct ek_state_head *h = &s->head;
    char now[EK_DATE_TEXT];
    struct size size = size_of(s);
    fprintf(to, "\nstate%s%s\n", *prefix ? " of " : "", prefix);
    if (!ek_checkpoint_number(s)) {
        fprintf(to, "  full            none is complete\n");
        return;
    }
    fprintf(to,
            "  checkpoint      %" PRIu64 "%s\n  manifest        %016" PRIx64
            "\n  profile         %016" PRIx64 "\n  item features   %d\n  lists           %" PRIu64
            "\n  plan            version %" PRIu64 "\n  stream          %s\n"
            "  records         %d, %" PRIu64 " bytes\n",
            ek_checkpoint_number(s),
            s->incomplete || s->damaged ? ", and a later one is not complete" : "",
            h->frame.manifest, h->kind.profile, h->kind.features, h->queries, h->plan_version,
            ek_date_text(h->time_ms, now), size.records, size.bytes);
}

/* Print a table of the checkpoints. */
static void inspect_states_table(const struct inspect_states *s, FILE *to)
{
    for (int i = 0; i < s->count; i++)
        table(s->of[i].prefix, s->of[i].state, to);
}

static void add_hash(struct ek_json_writer *w, const char *key, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    ek_json_add_text(w, key, text);
}

static void add_state(struct ek_json_writer *w, const char *prefix, const struct ek_state *s)
{
    const struct ek_state_head *h = &s->head;
    struct size size = size_of(s);
    uint64_t number = ek_checkpoint_number(s);
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "prefix", prefix);
    ek_json_add_count(w, "checkpoint", number);
    ek_json_add_flag(w, "complete", number && !s->incomplete && !s->damaged);
    if (number) {
        add_hash(w, "manifest", h->frame.manifest);
        add_hash(w, "profile", h->kind.profile);
        ek_json_add_count(w, "lists", h->queries);
        ek_json_add_count(w, "plan_version", h->plan_version);
        ek_json_add_integer(w, "time_ms", h->time_ms);
        ek_json_add_integer(w, "records", size.records);
        ek_json_add_count(w, "bytes", size.bytes);
    }
    ek_json_close(w, '}');
}

static int print_json(const struct totals *t, FILE *to, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer w;
    ek_json_begin_line(&w, &line);
    ek_json_add_text(&w, "kind", "capture");
    ek_json_add_count(&w, "messages", t->all.messages);
    ek_json_add_count(&w, "bytes", t->all.bytes);
    ek_json_add_count(&w, "largest_bytes", t->all.largest);
    ek_json_add_count(&w, "partitions", t->partitions.count);
    ek_json_add_integer(&w, "first_ms", t->all.first_ms);
    ek_json_add_integer(&w, "last_ms", t->all.last_ms);
    if (t->states.count)
        ek_json_open(&w, "checkpoints", '[');
    for (int i = 0; i < t->states.count; i++)
        add_state(&w, t->states.of[i].prefix, t->states.of[i].state);
    if (t->states.count)
        ek_json_close(&w, ']');
    return ek_json_end_line(&w, to, e);
}

static void print_table(const struct totals *t, FILE *to)
{
    char first[EK_DATE_TEXT], last[EK_DATE_TEXT];
    fprintf(to,
            "capture\n  messages        %" PRIu64 "\n  bytes           %" PRIu64
            "\n  largest         %" PRIu64 "\n  partitions      %zu\n  first           %s\n"
            "  last            %s\n",
            t->all.messages, t->all.bytes, t->all.largest, t->partitions.count,
            ek_date_text(t->all.first_ms, first), ek_date_text(t->all.last_ms, last));
    inspect_states_table(&t->states, to);
}

/* Print messages, partitions and checkpoints of a capture. Times are those of the records, else of
 * the messages. */
static int inspect_capture(const char *path, enum ek_inspect_form form, FILE *to,
                           struct ek_error *e)
{
    struct totals t = {0};
    ek_record_stats_init(&t.all);
    ek_hash_set_init(&t.partitions);
    int rc = count(path, &t, e);
    if (!rc && form == EK_INSPECT_JSON)
        rc = print_json(&t, to, e);
    if (!rc && form == EK_INSPECT_TABLE)
        print_table(&t, to);
    inspect_states_release(&t.states);
    ek_hash_set_release(&t.partitions);
    return rc;
}

enum { KEY_JSON = 256, KEY_PLOT, KEY_SUGGEST_MANIFEST, KEY_SUGGEST_MAPPING, KEY_SCHEMA };

static const struct argp_option OPTIONS[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON object", 0},
    {"plot", KEY_PLOT, "FEATURE", 0,
     "Draw the distribution of a feature in a profile, or in messages with --manifest", 0},
    {"manifest", 'm', "FILE", 0,
     "With --plot: manifest of the messages; default: those of --config", 0},
    {"profile", 'p', "FILE", 0, "With --plot: training profile to draw next to the messages", 0},
    {"suggest-manifest", KEY_SUGGEST_MANIFEST, NULL, 0,
     "Print an initial manifest for the features of messages, with their names and likely scales; "
     "review it before use",
     0},
    {"suggest-mapping", KEY_SUGGEST_MAPPING, NULL, 0,
     "Print the section `message` of a configuration for messages of any layout; review it before "
     "use",
     0},
    {"schema", KEY_SCHEMA, "FILE", 0,
     "With --suggest-manifest or --suggest-mapping: Avro or Protobuf schema of the messages", 0},
    EK_FIELD_MAPPING_OPTION,
    {0}};

static const struct ek_cli_slot SLOTS[] = {
    {KEY_PLOT, offsetof(struct arguments, plot)},
    {KEY_SUGGEST_MANIFEST, offsetof(struct arguments, suggest_manifest)},
    {KEY_SUGGEST_MAPPING, offsetof(struct arguments, suggest_mapping)},
    {KEY_SCHEMA, offsetof(struct arguments, schema)},
    {'c', offsetof(struct arguments, config)},
    {'m', offsetof(struct arguments, manifest)},
    {'p', offsetof(struct arguments, profile)},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case KEY_JSON:
        a->form = EK_INSPECT_JSON;
        return 0;
    case ARGP_KEY_END:
        if (a->plot && a->form == EK_INSPECT_JSON)
            argp_error(state, "--plot excludes --json, which prints the values without --plot");
        if (a->schema && !a->suggest_manifest && !a->suggest_mapping)
            argp_error(state, "--schema needs --suggest-manifest or --suggest-mapping");
        if (!a->plot && (a->manifest || a->profile))
            argp_error(state, "--manifest and --profile need --plot");
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

static const char DOC[] =
    "Show the contents of a profile, model or capture. With --config also print which fields of "
    "the configuration the messages of a capture have."
    "\v  evenkeel inspect profile.ekp --plot price\n"
    "  evenkeel inspect scored.ekc -c evenkeel.yaml\n"
    "  evenkeel inspect scored.ekc --plot price -m features.yaml -p profile.ekp";
static const struct argp ARGP = {OPTIONS, parse, "FILE", DOC, NULL, NULL, NULL};

static int profile(const struct arguments *a, struct ek_error *e)
{
    struct ek_profile *p;
    int rc = ek_profile_load(&p, a->path, e);
    if (rc)
        return rc;
    rc = a->plot ? plot_training(p, a->plot, stdout, e)
                 : check_memory(ek_inspect_profile(p, a->form, stdout), e);
    ek_profile_free(p);
    return rc;
}

static int model(const struct arguments *a, struct ek_error *e)
{
    struct ek_model *m;
    if (a->plot)
        return ek_fail(e, EK_EUSAGE,
                       "%s: a model has no distribution; --plot needs a profile or messages",
                       a->path);
    int rc = ek_model_load(&m, a->path, e);
    if (rc)
        return rc;
    rc = check_memory(ek_inspect_model(m, a->form, stdout), e);
    ek_model_free(m);
    return rc;
}

/* Read the first bytes of a file: none of a damaged one, and none of standard input or a pipe,
 * which are read once. Return 0, EK_EIO or EK_ENOMEM. */
static int read_head(const char *path, struct ek_buf *bytes, struct ek_error *e)
{
    struct ek_reader *r = NULL;
    size_t got = 0;
    if (!ek_kind_can_reread(path))
        return EK_OK;
    if (ek_buf_reserve(bytes, EK_RANKER_HEAD))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_reader_open(&r, path, e);
    if (!rc)
        rc = ek_reader_read(r, bytes->data, EK_RANKER_HEAD, &got, e);
    ek_reader_close(r);
    bytes->length = got;
    return rc == EK_EFORMAT ? EK_OK : rc;
}

static int messages(const struct arguments *a, struct ek_error *e)
{
    if (!a->plot) {
        bool coverage = a->config && a->form == EK_INSPECT_TABLE;
        if (coverage && !ek_kind_can_reread(a->path))
            return ek_fail(e, EK_EUSAGE,
                           "%s: the fields of --config take a second pass; name a file", a->path);
        int rc = inspect_capture(a->path, a->form, stdout, e);
        if (!rc && !a->config && a->form == EK_INSPECT_TABLE)
            puts(
                "\n--config FILE also shows which fields the messages have; --suggest-mapping and\n"
                "--suggest-manifest propose a configuration and a manifest for them");
        return coverage && !rc ? ek_inspect_coverage(a->path, &a->field_mapping, stdout, e) : rc;
    }
    if (!a->manifest)
        return ek_fail(e, EK_EUSAGE, "%s: --plot of messages needs --manifest", a->path);
    return plot_messages(a, stdout, e);
}

static int arrays(const struct arguments *a, struct ek_error *e)
{
    struct ek_tensors *t;
    int rc = ek_tensors_read(&t, a->path, e);
    if (rc)
        return rc;
    int is_profile = ek_tensors_text(t, "evenkeel_profile") != NULL;
    ek_tensors_free(t);
    return is_profile ? profile(a, e) : model(a, e);
}

static int inspect(const struct arguments *a, struct ek_error *e)
{
    struct ek_buf head;
    if (a->suggest_mapping)
        return ek_inspect_mapping(a->path, &a->field_mapping, stdout, e);
    if (a->suggest_manifest)
        return ek_inspect_manifest(a->path, &a->field_mapping, stdout, e);
    ek_buf_init(&head, 0);
    int rc = read_head(a->path, &head, e);
    if (!rc)
        rc = ek_model_begins_as_ranker(head.data, head.length) ? model(a, e)
             : ek_tensors_begins(head.data, head.length)       ? arrays(a, e)
                                                               : messages(a, e);
    ek_buf_release(&head);
    return rc;
}

int ek_cmd_inspect(int argc, char **argv)
{
    struct arguments a = {0};
    const struct ek_asset_options options = {.manifest = &a.manifest, .profile = &a.profile};
    struct ek_config *owner = NULL;
    struct ek_error e;
    ek_cli_parse(&ARGP, argc, argv, 0, &a);
    if (!a.path)
        return ek_cli_usage("inspect", "a file is needed");
    if (a.plot && !a.manifest && ek_asset_options_load(&owner, a.config, &options, &e))
        return ek_cli_fail(&e);
    int rc = ek_field_mapping_load(&a.field_mapping, a.config, &e);
    if (!rc && (a.suggest_manifest || a.suggest_mapping))
        rc = ek_field_mapping_show_all(&a.field_mapping, a.schema, &e);
    if (!rc)
        rc = inspect(&a, &e);
    ek_field_mapping_release(&a.field_mapping);
    ek_config_free(owner);
    if (!rc)
        return EK_EXIT_OK;
    if (e.code != EK_EUSAGE)
        ek_kind_explain(a.path, EK_KIND_UNKNOWN, &e);
    return ek_cli_fail(&e);
}
