/* Decodes and patches messages with schemas for test_avro_messages.py and test_proto_messages.py.
 * Lines of the input: `manifest HEX`, `schema HEX [key=path ...]` of Avro, `descriptors HEX
 * [key=path ...]` of Protobuf, `message HEX`. For each message a line of JSON: the
 * values, the message with other scores, and the message with other features; or the error. */
#include "lists/message_schema.h"
#include "lists/codec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ek_manifest *manifest;
static struct ek_message_schema *schema;
static struct ek_codec *codec;

static const struct ek_message_schema *find(void *context, int64_t id, struct ek_error *e)
{
    (void)context, (void)id, (void)e;
    return schema;
}

static struct ek_schema_set source = {.find = find};

static size_t from_hex(char *text)
{
    size_t length = strlen(text) / 2;
    for (size_t i = 0; i < length; i++) {
        unsigned byte;
        sscanf(text + 2 * i, "%2x", &byte);
        text[i] = (char)byte;
    }
    return length;
}

static void print_hex(const char *key, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    printf(", \"%s\": \"", key);
    for (size_t i = 0; i < length; i++)
        printf("%02x", p[i]);
    printf("\"");
}

/* Print text within quotes; bytes that JSON does not allow there are escaped. */
static void print_text(struct ek_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.text[i];
        if (c < ' ' || c == '"' || c == '\\')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
}

static void print_number(double x)
{
    if (isnan(x))
        printf("NaN");
    else if (isinf(x))
        fputs(x > 0 ? "Infinity" : "-Infinity", stdout);
    else
        printf("%.17g", x);
}

static void print_floats(const char *key, const float *x, int count)
{
    printf(", \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        print_number((double)x[i]);
    }
    printf("]");
}

static void fail(const struct ek_error *e)
{
    printf("{\"error\": \"");
    print_text(ek_text_from(e->message));
    printf("\"}\n");
}

static void set_path(struct ek_mapping *m, const char *key, const char *path)
{
    const struct {
        const char *key, **path;
    } all[] = {{"query", &m->query},       {"time_ms", &m->time_ms},
               {"segments", &m->segments}, {"query_features", &m->query_features},
               {"items", &m->items},       {"item_id", &m->item_id},
               {"score", &m->score},       {"features", &m->features},
               {"label", &m->label},       {"source", &m->source}};
    if (!strcmp(key, "frame"))
        source.frame = *path == '1' ? EK_FRAME_ALWAYS : EK_FRAME_NEVER;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].key, key))
            *all[i].path = path;
}

static int set_schema(char *line, bool is_proto, struct ek_error *e)
{
    static const struct ek_proto_type first = {0};
    struct ek_mapping m = {.encoding = is_proto ? EK_MESSAGES_PROTOBUF : EK_MESSAGES_AVRO,
                           .schemas = &source};
    source.is_proto = is_proto;
    char *rest = strchr(line, ' ');
    if (rest)
        *rest++ = 0;
    for (char *word = rest ? strtok_r(rest, " ", &rest) : NULL; word;
         word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = 0;
        set_path(&m, word, equals + 1);
    }
    ek_codec_free(codec);
    ek_message_schema_free(schema);
    codec = NULL;
    schema = NULL;
    struct ek_text text = {line, from_hex(line)};
    int rc = is_proto ? ek_proto_new(&schema, text, &first, &m, e)
                      : ek_avro_new(&schema, &text, 1, &m, e);
    return rc ? rc : ek_codec_new(&codec, manifest, &m, NULL, e);
}

static double doubled(void *context, int item, int feature, double value, bool narrow)
{
    (void)context, (void)item, (void)feature, (void)narrow;
    return 2 * value;
}

static void print_patches(struct ek_list *q, const char *bytes, size_t length)
{
    struct ek_buf out;
    struct ek_error e;
    uint8_t wanted[64];
    double scores[1000];
    struct ek_feature_patch patch = {.wanted = wanted, .value = doubled};
    memset(wanted, 1, sizeof wanted);
    for (int i = 0; i < q->items; i++)
        scores[i] = i / 4. - 1;
    ek_buf_init(&out, 0);
    if (ek_codec_patch(q, bytes, length, scores, &out, &e))
        printf(", \"unpatched\": \"%s\"", e.message);
    else
        print_hex("patched", out.data, out.length);
    if (ek_codec_patch_features(codec, q, bytes, length, &patch, &out, &e))
        printf(", \"unrepaired\": \"%s\"", e.message);
    else
        print_hex("repaired", patch.changed ? (const char *)out.data : bytes, length);
    ek_buf_release(&out);
}

static void print_message(char *text)
{
    static struct ek_list q;
    struct ek_error e;
    size_t length = from_hex(text);
    char *bytes = malloc(length ? length : 1);
    memcpy(bytes, text, length);
    if (ek_codec_decode(codec, bytes, length, &q, &e)) {
        fail(&e);
        free(bytes);
        return;
    }
    printf("{\"time\": %lld", (long long)q.time_ms);
    print_hex("query", q.id.text, q.id.length);
    for (int i = 0; i < q.segment_count; i++) {
        printf(", \"segment_");
        print_text(q.segments[i].name);
        printf("\": \"");
        print_text(q.segments[i].value);
        printf("\"");
    }
    printf(", \"ids\": [");
    for (int i = 0; i < q.items; i++) {
        fputs(i ? ", \"" : "\"", stdout);
        print_text(q.item_id[i]);
        printf("\"");
    }
    printf("], \"scores\": [");
    for (int i = 0; i < q.items; i++) {
        fputs(i ? ", " : "", stdout);
        print_number(q.score[i]);
    }
    printf("]");
    print_floats("x", q.x, q.items * q.item_features);
    print_floats("query_features", q.query, q.query_features);
    print_patches(&q, bytes, length);
    printf("}\n");
    free(bytes);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    struct ek_error e, bad = {0};
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        char *text = strchr(line, ' ') + 1;
        line[length - 1] = 0;
        if (!strncmp(line, "manifest", 8)) {
            ek_manifest_free(manifest);
            if (ek_manifest_parse(&manifest, "m", text, from_hex(text), &e))
                return 1;
        } else if (!strncmp(line, "schema", 6) || !strncmp(line, "descriptors", 11)) {
            bad = (struct ek_error){0};
            set_schema(text, *line == 'd', &bad);
        } else if (bad.message[0]) {
            fail(&bad);
        } else {
            print_message(text);
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
