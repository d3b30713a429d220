#include "daemon/files/schema_source.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "daemon/base/clock.h"
#include "daemon/base/http_client.h"
#include "daemon/base/url.h"
#include "lists/message_schema.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    ANSWER_BYTES_MAX = 3 * EK_SCHEMA_BYTES_MAX, /* JSON escapes of a schema */
    ALL_BYTES_MAX = 64 << 20,                   /* of all compiled schemas */
    REFERENCES_MAX = 64,
    FAILURES = 64,
    URL_BYTES = 3000,
    SUBJECT_BYTES = 700,
    WHY_BYTES = 300,
    RETRY_FIRST_MS = 100, /* within the timeout of a message */
    PAUSE_FIRST_MS = 1000,
    PAUSE_LAST_MS = 30000,
    UNKNOWN_PAUSE_MS = 10000,
    LOOKUPS_PER_S = 20, /* of ids that the registry does not know, and at once */
};

/* A cached schema; never changed. */
struct cached {
    int64_t key;
    struct ek_message_schema *schema;
    const struct cached *next;
};

/* A failed key, which is not fetched before `until_ms`. */
struct failure {
    int64_t key, until_ms;
    char why[WHY_BYTES];
};

struct ek_schema_source {
    struct ek_schema_set source;
    struct ek_buf key; /* settings and mapping */
    int users;
    struct ek_schema_source *next;
    struct ek_message_schema *file;
    char *text[6]; /* url, user, password, token, ca_file, type; NULL: none */
    int64_t timeout_ms, cache;
    bool converts_all;
    struct ek_mapping mapping; /* with strings of its own */
    struct ek_named_path *named[3];
    _Atomic(const struct cached *) cached;
    /* The rest is guarded by `lock`; `http` belongs to the thread that has set `busy`. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool busy;
    struct ek_http *http;
    size_t bytes;
    int64_t count, down_until_ms, pause_ms, tokens, token_ms;
    struct failure failure[FAILURES];
    size_t failures;
};

enum { URL, USER, PASSWORD, TOKEN, CA_FILE, TYPE, TEXTS };

static pthread_mutex_t sources_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ek_schema_source *sources;

static const struct ek_message_schema *find_cached(const struct ek_schema_source *s, int64_t key)
{
    const struct cached *c = atomic_load_explicit(&s->cached, memory_order_acquire);
    while (c && c->key != key)
        c = c->next;
    return c ? c->schema : NULL;
}

/* A request for one schema, with those that it refers to. */
struct fetch {
    struct ek_schema_source *s;
    int64_t deadline_ms;
    char subject[REFERENCES_MAX + 1][SUBJECT_BYTES]; /* path of each request so far */
    struct ek_buf schema[REFERENCES_MAX + 1];        /* those referred to come first */
    size_t count, requested;
    bool is_away; /* the registry did not answer, so that another attempt may succeed */
    struct ek_error *e;
};

static int fail_away(struct fetch *f, const char *what)
{
    f->is_away = true;
    return ek_fail(f->e, EK_EIO, "the schema registry is not available: %s", what);
}

static int check_answer(struct fetch *f, const struct ek_http_response *r, const char *path)
{
    char text[EK_HTTP_START_BYTES];
    if (r->fault == EK_HTTP_MEMORY)
        return ek_fail(f->e, EK_ENOMEM, "out of memory");
    if (r->fault == EK_HTTP_TOO_LONG)
        return ek_fail(f->e, EK_ELIMIT,
                       "the answer of the schema registry to %s has more than %d "
                       "MiB",
                       path, ANSWER_BYTES_MAX >> 20);
    if (r->fault == EK_HTTP_TIMEOUT)
        return fail_away(f, "no answer in time");
    if (!r->status)
        return fail_away(f, r->text);
    if (r->status == 200)
        return EK_OK;
    snprintf(text, sizeof text, "status %d for %s", r->status, path);
    if (r->status >= 500 || r->status == 429 || r->status == 408)
        return fail_away(f, text);
    return ek_fail(f->e, EK_ECONFIG, "the schema registry answers with %s", text);
}

/* Get a path of the registry. Return 0, EK_EIO if it is away, or another error. */
static int get(struct fetch *f, const char *path, struct ek_buf *body)
{
    struct ek_schema_source *s = f->s;
    struct ek_http_response response;
    char url[URL_BYTES];
    size_t length = strlen(s->text[URL]);
    int64_t left_ms = f->deadline_ms - ek_now_ms();
    snprintf(url, sizeof url, "%.*s%s",
             (int)(length && s->text[URL][length - 1] == '/' ? length - 1 : length), s->text[URL],
             path);
    const struct ek_http_request request = {.url = url,
                                            .token = s->text[TOKEN],
                                            .ca_file = s->text[CA_FILE],
                                            .user = s->text[USER],
                                            .password = s->text[PASSWORD],
                                            .timeout_ms = left_ms > 0 ? left_ms : 1,
                                            .body_out = body};
    if (!s->http && ek_http_new(&s->http, 1, f->e))
        return EK_ENOMEM;
    if (!ek_http_begin(s->http, 0, &request))
        return ek_fail(f->e, EK_ENOMEM, "out of memory");
    while (!ek_http_next(s->http, &response))
        ek_http_wait(s->http, RETRY_FIRST_MS);
    return check_answer(f, &response, path);
}

static int fetch_path(struct fetch *f, const char *path);

/* Return the option of a path: descriptors of Protobuf are bytes in base64. */
static const char *path_option(const struct fetch *f)
{
    return f->s->source.is_proto ? "?format=serialized" : "";
}

/* Fetch the schemas that an answer refers to. */
static int fetch_references(struct fetch *f, yyjson_val *answer)
{
    yyjson_val *references = yyjson_obj_get(answer, "references"), *one;
    size_t i, count;
    int rc = EK_OK;
    yyjson_arr_foreach(references, i, count, one)
    {
        yyjson_val *version = yyjson_obj_get(one, "version");
        const char *subject = yyjson_get_str(yyjson_obj_get(one, "subject"));
        char escaped[SUBJECT_BYTES - 80], path[SUBJECT_BYTES];
        if (!subject || !yyjson_is_int(version) || strlen(subject) > sizeof escaped / 3 - 1)
            return ek_fail(f->e, EK_ECONFIG, "a reference of the schema registry is invalid");
        ek_url_escape(subject, escaped, sizeof escaped);
        snprintf(path, sizeof path, "/subjects/%s/versions/%lld%s", escaped,
                 (long long)yyjson_get_sint(version), path_option(f));
        if (!rc)
            rc = fetch_path(f, path);
        if (rc)
            return rc;
    }
    return rc;
}

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Append bytes in base64. Return 0, EK_EFORMAT or EK_ENOMEM. */
static int add_base64(struct ek_buf *out, const char *text, size_t length)
{
    uint32_t bits = 0;
    int rc = EK_OK;
    while (length && text[length - 1] == '=')
        length--;
    for (size_t i = 0; !rc && i < length; i++) {
        int digit = digit_of(text[i]);
        bits = bits << 6 | (uint32_t)digit;
        if (digit < 0)
            rc = EK_EFORMAT;
        else if (i % 4)
            rc = ek_buf_add(out, &(uint8_t){(uint8_t)(bits >> (6 - 2 * (i % 4)))}, 1);
    }
    return rc;
}

/* Keep a schema: JSON of Avro, or a FileDescriptorProto. */
static int keep_schema(struct fetch *f, const char *text, size_t length)
{
    struct ek_buf *to = &f->schema[f->count++];
    int rc = f->s->source.is_proto ? add_base64(to, text, length) : ek_buf_add(to, text, length);
    return rc == EK_ENOMEM ? ek_fail(f->e, rc, "out of memory")
           : rc            ? ek_fail(f->e, EK_ECONFIG,
                                     "the schema registry answers with text in place of descriptors; use "
                                                "a file of protoc ('message.schema')")
                           : EK_OK;
}

static int read_answer(struct fetch *f, const struct ek_buf *body)
{
    const char *expected = f->s->source.is_proto ? "PROTOBUF" : "AVRO";
    struct ek_json_error why;
    yyjson_doc *doc = NULL;
    int rc = ek_json_parse(&doc, (const char *)body->data, body->length, false, &why);
    if (rc)
        return rc == EK_ENOMEM
                   ? ek_fail(f->e, rc, "out of memory")
                   : ek_fail(f->e, EK_ECONFIG, "the answer of the schema registry is no JSON: %s",
                             why.text);
    yyjson_val *answer = yyjson_doc_get_root(doc);
    yyjson_val *schema = yyjson_obj_get(answer, "schema"),
               *type = yyjson_obj_get(answer, "schemaType");
    if (!yyjson_is_str(schema))
        rc = ek_fail(f->e, EK_ECONFIG, "the answer of the schema registry has no 'schema'");
    else if (type ? !yyjson_equals_str(type, expected) : f->s->source.is_proto)
        rc = ek_fail(f->e, EK_ECONFIG, "a schema of type '%.20s', expected %s",
                     yyjson_is_str(type) ? yyjson_get_str(type) : "AVRO", expected);
    if (!rc)
        rc = fetch_references(f, answer);
    if (!rc)
        rc = keep_schema(f, yyjson_get_str(schema), yyjson_get_len(schema));
    yyjson_doc_free(doc);
    return rc;
}

/* Fetch a schema after those that it refers to, each once. */
static int fetch_path(struct fetch *f, const char *path)
{
    struct ek_buf body;
    for (size_t i = 0; i < f->requested; i++)
        if (!strcmp(f->subject[i], path))
            return EK_OK;
    if (f->requested > REFERENCES_MAX)
        return ek_fail(f->e, EK_ELIMIT, "a schema refers to more than %d others", REFERENCES_MAX);
    snprintf(f->subject[f->requested++], SUBJECT_BYTES, "%s", path);
    ek_buf_init(&body, ANSWER_BYTES_MAX);
    int rc = get(f, path, &body);
    if (!rc && !body.length)
        rc = ek_fail(f->e, EK_ECONFIG, "the answer of the schema registry is empty");
    if (!rc)
        rc = read_answer(f, &body);
    ek_buf_release(&body);
    return rc;
}

/* Compile the last of some FileDescriptorProtos, which make up a FileDescriptorSet. */
static int compile_proto(const struct ek_schema_source *s, const struct ek_buf *file, size_t count,
                         uint32_t indexes, struct ek_message_schema **out, struct ek_error *e)
{
    enum { FILE_TAG = 0x0a };
    const struct ek_proto_type type = {NULL, indexes};
    struct ek_buf set;
    int rc = EK_OK;
    ek_buf_init(&set, 0);
    for (size_t i = 0; i < count && !rc; i++) {
        size_t length = file[i].length;
        rc = ek_buf_add(&set, &(uint8_t){FILE_TAG}, 1);
        for (; !rc && length >> 7; length >>= 7)
            rc = ek_buf_add(&set, &(uint8_t){(uint8_t)(length | 0x80)}, 1);
        if (!rc)
            rc = ek_buf_add(&set, &(uint8_t){(uint8_t)length}, 1);
        if (!rc)
            rc = ek_buf_add(&set, file[i].data, file[i].length);
    }
    rc = rc ? ek_fail(e, EK_ENOMEM, "out of memory")
            : ek_proto_new(out, (struct ek_text){(const char *)set.data, set.length}, &type,
                           s->converts_all ? NULL : &s->mapping, e);
    ek_buf_release(&set);
    return rc;
}

static int compile_avro(const struct ek_schema_source *s, const struct ek_buf *schema, size_t count,
                        struct ek_message_schema **out, struct ek_error *e)
{
    struct ek_text text[REFERENCES_MAX + 1];
    for (size_t i = 0; i < count; i++)
        text[i] = (struct ek_text){(const char *)schema[i].data, schema[i].length};
    return ek_avro_new(out, text, count, s->converts_all ? NULL : &s->mapping, e);
}

/* Fetch and compile a schema, and try again until the deadline if the registry is away. */
static int fetch(struct fetch *f, int64_t key, struct ek_message_schema **out)
{
    char path[60];
    int64_t pause_ms = RETRY_FIRST_MS;
    int rc;
    snprintf(path, sizeof path, "/schemas/ids/%" PRIu32 "%s", ek_schema_key_id(key),
             path_option(f));
    for (;;) {
        f->count = f->requested = 0;
        f->is_away = false;
        for (size_t i = 0; i <= REFERENCES_MAX; i++)
            ek_buf_init(&f->schema[i], 0);
        rc = fetch_path(f, path);
        if (!rc)
            rc = f->s->source.is_proto ? compile_proto(f->s, f->schema, f->count,
                                                       ek_schema_key_indexes(key), out, f->e)
                                       : compile_avro(f->s, f->schema, f->count, out, f->e);
        for (size_t i = 0; i <= REFERENCES_MAX; i++)
            ek_buf_release(&f->schema[i]);
        if (!f->is_away || ek_now_ms() + pause_ms >= f->deadline_ms)
            return rc;
        const struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
        nanosleep(&pause, NULL);
        if (ek_now_ms() >= f->deadline_ms)
            return rc;
        pause_ms *= 2;
    }
}

/* Publish a schema. Called with the lock. */
static int add_cached(struct ek_schema_source *s, int64_t key, struct ek_message_schema *schema,
                      struct ek_error *e)
{
    struct cached *c = ek_calloc(1, sizeof *c);
    size_t bytes = ek_message_schema_bytes(schema);
    int rc = !c ? ek_fail(e, EK_ENOMEM, "out of memory")
             : s->count == s->cache
                 ? ek_fail(e, EK_ELIMIT, "more than %lld schemas; raise 'message.registry.cache'",
                           (long long)s->cache)
             : bytes > ALL_BYTES_MAX - s->bytes
                 ? ek_fail(e, EK_ELIMIT, "the schemas need more than %d MiB", ALL_BYTES_MAX >> 20)
                 : EK_OK;
    if (rc) {
        ek_free(c);
        ek_message_schema_free(schema);
        return rc;
    }
    *c = (struct cached){key, schema, atomic_load(&s->cached)};
    s->count++;
    s->bytes += bytes;
    atomic_store_explicit(&s->cached, c, memory_order_release);
    return EK_OK;
}

/* Limit lookups of unknown ids, so that damaged messages do not become a flood of requests. Called
 * with the lock. */
static bool has_token(struct ek_schema_source *s, int64_t now_ms)
{
    int64_t more = (now_ms - s->token_ms) * LOOKUPS_PER_S / 1000;
    if (more > 0) {
        s->tokens = s->tokens + more < LOOKUPS_PER_S ? s->tokens + more : LOOKUPS_PER_S;
        s->token_ms = now_ms;
    }
    return s->tokens > 0;
}

/* Note a failed key, and a pause of all requests if the registry is away. Called with the lock. */
static void note_failure(struct ek_schema_source *s, int64_t key, bool is_away,
                         const struct ek_error *e)
{
    int64_t now_ms = ek_now_ms();
    struct failure *f = &s->failure[s->failures++ % FAILURES];
    if (is_away) {
        s->pause_ms = !s->pause_ms                      ? PAUSE_FIRST_MS
                      : 2 * s->pause_ms < PAUSE_LAST_MS ? 2 * s->pause_ms
                                                        : PAUSE_LAST_MS;
        s->down_until_ms = now_ms + s->pause_ms;
    }
    s->tokens -= !is_away;
    *f = (struct failure){.key = key,
                          .until_ms = is_away ? s->down_until_ms : now_ms + UNKNOWN_PAUSE_MS};
    snprintf(f->why, sizeof f->why, "%.*s", WHY_BYTES - 1, e->message);
}

/* Return the reason not to fetch a schema now, or NULL. Called with the lock. */
static const char *reason_to_wait(struct ek_schema_source *s, int64_t key)
{
    int64_t now_ms = ek_now_ms();
    const char *why = NULL;
    for (size_t i = 0; i < FAILURES; i++)
        if (s->failure[i].until_ms > now_ms && s->failure[i].key == key)
            why = s->failure[i].why;
    if (!why && s->down_until_ms > now_ms)
        why = "the schema registry is not available";
    if (!why && !has_token(s, now_ms))
        why = "too many unknown schema ids";
    return why;
}

static int fetch_and_note(struct ek_schema_source *s, int64_t key, int64_t deadline_ms,
                          struct ek_error *e)
{
    struct ek_message_schema *schema = NULL;
    struct fetch *f = ek_calloc(1, sizeof *f);
    s->busy = true;
    pthread_mutex_unlock(&s->lock);
    if (f)
        *f = (struct fetch){.s = s, .deadline_ms = deadline_ms, .e = e};
    int rc = f ? fetch(f, key, &schema) : ek_fail(e, EK_ENOMEM, "out of memory");
    bool is_away = f && f->is_away;
    ek_free(f);
    pthread_mutex_lock(&s->lock);
    if (!rc)
        rc = add_cached(s, key, schema, e);
    if (rc)
        note_failure(s, key, is_away, e);
    else
        s->pause_ms = 0;
    s->busy = false;
    pthread_cond_broadcast(&s->changed);
    return rc;
}

/* Wait for another thread's request. Return false at the deadline. */
static bool wait_for_other(struct ek_schema_source *s, int64_t deadline_ms)
{
    return ek_cond_wait_until(&s->changed, &s->lock, deadline_ms);
}

static const struct ek_message_schema *find_by_id(void *context, int64_t key, struct ek_error *e)
{
    struct ek_schema_source *s = context;
    const struct ek_message_schema *schema = find_cached(s, key);
    if (schema)
        return schema;
    int64_t deadline_ms = ek_now_ms() + s->timeout_ms;
    const char *why = NULL;
    struct ek_error own = {0};
    pthread_mutex_lock(&s->lock);
    while (!(schema = find_cached(s, key)) && !(why = reason_to_wait(s, key)) && !own.message[0]) {
        if (!s->busy)
            fetch_and_note(s, key, deadline_ms, &own);
        else if (!wait_for_other(s, deadline_ms))
            ek_fail(&own, EK_EIO, "the schema registry is not available: no answer in time");
    }
    if (!schema)
        ek_fail(e, own.code == EK_ENOMEM ? EK_ENOMEM : EK_EFORMAT, "schema id %" PRIu32 ": %.300s",
                ek_schema_key_id(key), own.message[0] ? own.message : why);
    pthread_mutex_unlock(&s->lock);
    return schema;
}

static const struct ek_message_schema *find_file(void *context, int64_t key, struct ek_error *e)
{
    const struct ek_schema_source *s = context;
    (void)key, (void)e;
    return s->file;
}

static int load_file(struct ek_schema_source *s, const char *path,
                     enum ek_message_encoding encoding, struct ek_error *e)
{
    struct ek_buf text;
    ek_buf_init(&text, EK_SCHEMA_BYTES_MAX);
    int rc = ek_file_read(path, &text, e);
    if (rc == EK_ELIMIT)
        rc = ek_fail(e, rc, "the schema has more than %d KiB", EK_SCHEMA_BYTES_MAX >> 10);
    const struct ek_text bytes = {(const char *)text.data, text.length};
    if (!rc && encoding == EK_MESSAGES_EITHER)
        s->source.is_proto = ek_proto_is_set(bytes);
    if (!rc && s->source.is_proto)
        rc = ek_proto_new(&s->file, bytes, &(struct ek_proto_type){.name = s->text[TYPE]},
                          s->converts_all ? NULL : &s->mapping, e);
    else if (!rc)
        rc = compile_avro(s, &text, 1, &s->file, e);
    ek_buf_release(&text);
    return rc ? ek_error_place(e, path, 0, 0) : EK_OK;
}

static int copy_text(char **to, const char *text)
{
    *to = text ? ek_strdup(text) : NULL;
    return text && !*to ? EK_ENOMEM : EK_OK;
}

enum { PATHS = 14, NAMED = 3 };

/* Fields of a mapping, to copy, compare and free them alike. */
static void list_fields(struct ek_mapping *m, const char **path[PATHS],
                        struct ek_named_paths *named[NAMED])
{
    const char **const paths[PATHS] = {&m->query,     &m->time_ms, &m->segments, &m->query_features,
                                       &m->manifest,  &m->items,   &m->item,     &m->list_items,
                                       &m->log_means, &m->item_id, &m->score,    &m->features,
                                       &m->label,     &m->source};
    memcpy(path, paths, sizeof paths);
    named[0] = &m->segment_paths;
    named[1] = &m->query_feature_paths;
    named[2] = &m->feature_paths;
}

static int copy_named(struct ek_named_path **to, struct ek_named_paths *paths)
{
    const struct ek_named_path *from = paths->items;
    *to = ek_calloc(paths->count, sizeof **to);
    if (!*to)
        return EK_ENOMEM;
    int rc = EK_OK;
    for (size_t i = 0; i < paths->count && !rc; i++) {
        rc = copy_text((char **)&(*to)[i].name, from[i].name);
        if (!rc)
            rc = copy_text((char **)&(*to)[i].path, from[i].path);
    }
    paths->items = *to;
    return rc;
}

static int copy_mapping(struct ek_schema_source *s, const struct ek_mapping *m)
{
    const char **path[PATHS];
    struct ek_named_paths *named[NAMED];
    int rc = EK_OK;
    s->mapping = *m;
    list_fields(&s->mapping, path, named);
    for (int i = 0; i < PATHS; i++) {
        const char *from = *path[i];
        *path[i] = NULL;
        if (!rc)
            rc = copy_text((char **)path[i], from);
    }
    for (int i = 0; i < NAMED && !rc; i++)
        rc = copy_named(&s->named[i], named[i]);
    return rc;
}

static void free_mapping(struct ek_schema_source *s)
{
    const char **path[PATHS];
    struct ek_named_paths *named[NAMED];
    list_fields(&s->mapping, path, named);
    for (int i = 0; i < PATHS; i++)
        ek_free((char *)(uintptr_t)*path[i]);
    for (int i = 0; i < NAMED; i++) {
        for (size_t k = 0; s->named[i] && k < named[i]->count; k++) {
            ek_free((char *)(uintptr_t)s->named[i][k].name);
            ek_free((char *)(uintptr_t)s->named[i][k].path);
        }
        ek_free(s->named[i]);
    }
}

static int write_key(struct ek_buf *key, const struct ek_schema_settings *s,
                     const struct ek_mapping *from)
{
    const char *const words[TEXTS] = {s->url, s->user, s->password, s->token, s->ca_file, s->type};
    struct ek_mapping m = *from;
    const char **path[PATHS];
    struct ek_named_paths *named[NAMED];
    list_fields(&m, path, named);
    ek_buf_printf(key, "%d %d %d %d %lld %lld", (int)s->encoding, s->converts_all, (int)s->frame,
                  (int)m.layout, (long long)s->timeout_ms, (long long)s->cache);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ek_buf_printf(key, "\n%s", words[i] ? words[i] : "");
    for (int i = 0; i < PATHS; i++)
        ek_buf_printf(key, "\n%s", *path[i] ? *path[i] : "");
    for (int i = 0; i < NAMED; i++) {
        ek_buf_printf(key, "\n%zu", named[i]->count);
        for (size_t k = 0; k < named[i]->count; k++)
            ek_buf_printf(key, "\n%s\n%s", named[i]->items[k].name, named[i]->items[k].path);
    }
    return key->rc;
}

static void release(struct ek_schema_source *s)
{
    const struct cached *c = atomic_load(&s->cached);
    while (c) {
        const struct cached *next = c->next;
        ek_message_schema_free(c->schema);
        ek_free((void *)(uintptr_t)c);
        c = next;
    }
    ek_message_schema_free(s->file);
    ek_http_free(s->http);
    for (size_t i = 0; i < sizeof s->text / sizeof *s->text; i++)
        ek_free(s->text[i]);
    free_mapping(s);
    ek_buf_release(&s->key);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    ek_free(s);
}

static int fill(struct ek_schema_source *s, const struct ek_schema_settings *from,
                const struct ek_mapping *mapping, struct ek_error *e)
{
    const char *const words[TEXTS] = {from->url,   from->user,    from->password,
                                      from->token, from->ca_file, from->type};
    int rc = copy_mapping(s, mapping);
    s->converts_all = from->converts_all;
    for (size_t i = 0; i < sizeof words / sizeof *words && !rc; i++)
        rc = copy_text(&s->text[i], words[i]);
    s->source = (struct ek_schema_set){.find = from->file ? find_file : find_by_id,
                                       .context = s,
                                       .frame = from->frame,
                                       .is_proto = from->encoding == EK_MESSAGES_PROTOBUF};
    s->timeout_ms = from->timeout_ms;
    s->cache = from->cache;
    s->tokens = LOOKUPS_PER_S;
    s->token_ms = ek_now_ms();
    if (rc)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return from->file ? load_file(s, from->file, from->encoding, e) : EK_OK;
}

static void init_locks(struct ek_schema_source *s)
{
    pthread_mutex_init(&s->lock, NULL);
    ek_cond_init(&s->changed);
}

static struct ek_schema_source *find_shared(const struct ek_buf *key)
{
    struct ek_schema_source *s = sources;
    while (s && (s->key.length != key->length || memcmp(s->key.data, key->data, key->length) != 0))
        s = s->next;
    return s;
}

static int open_new(struct ek_schema_source **out, struct ek_buf *key,
                    const struct ek_schema_settings *settings, const struct ek_mapping *mapping,
                    struct ek_error *e)
{
    struct ek_schema_source *s = ek_calloc(1, sizeof *s);
    if (!s) {
        ek_buf_release(key);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    s->key = *key;
    init_locks(s);
    int rc = fill(s, settings, mapping, e);
    if (rc) {
        release(s);
        return rc;
    }
    s->users = 1;
    s->next = sources;
    *out = sources = s;
    return EK_OK;
}

int ek_schema_source_open(struct ek_schema_source **out, const struct ek_schema_settings *s,
                          const struct ek_mapping *mapping, struct ek_error *e)
{
    struct ek_buf key;
    ek_buf_init(&key, 0);
    if (write_key(&key, s, mapping)) {
        ek_buf_release(&key);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    pthread_mutex_lock(&sources_lock);
    struct ek_schema_source *shared = s->file ? NULL : find_shared(&key);
    int rc = EK_OK;
    if (shared) {
        shared->users++;
        *out = shared;
        ek_buf_release(&key);
    } else {
        rc = open_new(out, &key, s, mapping, e);
    }
    pthread_mutex_unlock(&sources_lock);
    return rc;
}

void ek_schema_source_close(struct ek_schema_source *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&sources_lock);
    struct ek_schema_source **at = &sources;
    while (*at != s)
        at = &(*at)->next;
    bool is_last = !--s->users;
    if (is_last)
        *at = s->next;
    pthread_mutex_unlock(&sources_lock);
    if (is_last)
        release(s);
}

const struct ek_schema_set *ek_schema_source_get(const struct ek_schema_source *s)
{
    return &s->source;
}

const struct ek_message_schema *ek_schema_source_file(const struct ek_schema_source *s)
{
    return s->file;
}
