/* Schemas of a registry on loopback, with answers of all kinds. */
#include "daemon/files/schema_source.h"

#include "daemon/base/clock.h"
#include "lists/message_schema.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ITEMS                                                                                      \
    "{\\\"type\\\": \\\"record\\\", \\\"name\\\": \\\"L\\\", \\\"fields\\\": [{\\\"name\\\": "     \
    "\\\"items\\\", \\\"type\\\": {\\\"type\\\": \\\"array\\\", \\\"items\\\": %s}}]}"
#define ITEM                                                                                       \
    "{\\\"type\\\": \\\"record\\\", \\\"name\\\": \\\"I\\\", \\\"fields\\\": [{\\\"name\\\": "     \
    "\\\"score\\\", \\\"type\\\": \\\"float\\\"}, {\\\"name\\\": \\\"features\\\", \\\"type\\\": " \
    "\\\"bytes\\\"}]}"

enum { REQUEST_BYTES = 4096 };

/* Registry with an answer for each path. */
struct registry {
    char url[64];
    int fd, status;
    pthread_t thread;
    const char *paths[8], *bodies[8];
    size_t huge; /* bytes of an endless body */
    atomic_int requests;
    atomic_bool refuses;
    char last[REQUEST_BYTES];
};

static void answer(struct registry *r, int link)
{
    static char text[1 << 16];
    char request[REQUEST_BYTES] = "";
    ssize_t got = recv(link, request, sizeof request - 1, 0);
    const char *body = "{\"error_code\": 40403, \"message\": \"Schema not found\"}";
    int status = 404;
    if (got <= 0)
        return;
    memcpy(r->last, request, sizeof request);
    for (int i = 0; i < 8 && r->paths[i]; i++) {
        size_t length = strlen(r->paths[i]);
        if (!strncmp(request + 4, r->paths[i], length) && request[4 + length] == ' ') {
            body = r->bodies[i];
            status = 200;
        }
    }
    status = r->status ? r->status : status;
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 %d X\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                          status, strlen(body) + r->huge, body);
    send(link, text, (size_t)length, MSG_NOSIGNAL);
    memset(text, ' ', sizeof text);
    for (size_t sent = 0; sent < r->huge; sent += sizeof text)
        if (send(link, text, sizeof text, MSG_NOSIGNAL) <= 0)
            break;
}

static void *serve(void *context)
{
    struct registry *r = context;
    for (;;) {
        int link = accept(r->fd, NULL, NULL);
        if (link < 0)
            return NULL;
        atomic_fetch_add(&r->requests, 1);
        if (!atomic_load(&r->refuses))
            answer(r, link);
        close(link);
    }
}

static void registry_open(struct registry *r)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(!bind(r->fd, (struct sockaddr *)&at, sizeof at) && !listen(r->fd, 8));
    ck_assert(!getsockname(r->fd, (struct sockaddr *)&at, &size));
    snprintf(r->url, sizeof r->url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
    ck_assert(!pthread_create(&r->thread, NULL, serve, r));
}

static void registry_close(struct registry *r)
{
    shutdown(r->fd, SHUT_RDWR);
    pthread_join(r->thread, NULL);
    close(r->fd);
}

static struct ek_schema_source *open_encoding(const struct registry *r, int64_t timeout_ms,
                                              int64_t cache, enum ek_message_encoding encoding)
{
    struct ek_schema_source *s;
    const struct ek_mapping mapping = {.encoding = encoding};
    const struct ek_schema_settings settings = {.encoding = encoding,
                                                .url = r->url,
                                                .user = "u",
                                                .password = "secret",
                                                .timeout_ms = timeout_ms,
                                                .cache = cache};
    ck_assert_int_eq(ek_schema_source_open(&s, &settings, &mapping, NULL), EK_OK);
    return s;
}

static struct ek_schema_source *open_source(const struct registry *r, int64_t timeout_ms,
                                            int64_t cache)
{
    return open_encoding(r, timeout_ms, cache, EK_MESSAGES_AVRO);
}

static const struct ek_message_schema *find(const struct ek_schema_source *s, int64_t id,
                                            struct ek_error *e)
{
    const struct ek_schema_set *from = ek_schema_source_get(s);
    return from->find(from->context, id, e);
}

static char *list_schema(const char *item, const char *references)
{
    char *text = malloc(4000), schema[2000];
    snprintf(schema, sizeof schema, ITEMS, item);
    snprintf(text, 4000, "{\"schema\": \"%s\"%s}", schema, references);
    return text;
}

START_TEST(a_schema_is_fetched_once_with_the_user_and_shared)
{
    char *list = list_schema(ITEM, "");
    struct registry r = {.paths = {"/schemas/ids/7"}, .bodies = {list}};
    struct ek_error e;
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 60000, 10), *again = open_source(&r, 60000, 10);
    ck_assert_ptr_eq(s, again);
    const struct ek_message_schema *schema = find(s, 7, &e);
    ck_assert_ptr_nonnull(schema);
    ck_assert_ptr_eq(find(s, 7, &e), schema);
    ck_assert_int_eq(atomic_load(&r.requests), 1);
    ck_assert_ptr_nonnull(strstr(r.last, "Authorization: Basic dTpzZWNyZXQ="));
    ek_schema_source_close(again);
    ck_assert_ptr_eq(find(s, 7, &e), schema);
    ek_schema_source_close(s);
    registry_close(&r);
    free(list);
}
END_TEST

START_TEST(references_are_resolved)
{
    char *list = list_schema("\\\"I\\\"", ", \"references\": [{\"name\": \"I\", \"subject\": "
                                          "\"shop/I\", \"version\": 3}]");
    char item[1000];
    snprintf(item, sizeof item, "{\"schema\": \"%s\"}", ITEM);
    struct registry r = {.paths = {"/schemas/ids/7", "/subjects/shop%2FI/versions/3"},
                         .bodies = {list, item}};
    struct ek_error e = {0};
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 60000, 10);
    ck_assert_msg(find(s, 7, &e) != NULL, "%s", e.message);
    ck_assert_int_eq(atomic_load(&r.requests), 2);
    ek_schema_source_close(s);
    registry_close(&r);
    free(list);
}
END_TEST

/* FileDescriptorProtos of Google's library: a file with Other and List, and one with Item. */
#define LIST_FILE                                                                                  \
    "CgpsaXN0LnByb3RvEgRzaG9wGgppdGVtLnByb3RvIgcKBU90aGVyIiEKBExp"                                 \
    "c3QSGQoFaXRlbXMYASADKAsyCi5zaG9wLkl0ZW1iBnByb3RvMw=="
#define ITEM_FILE                                                                                  \
    "CgppdGVtLnByb3RvEgRzaG9wIicKBEl0ZW0SDQoFc2NvcmUYASABKAESEAoI"                                 \
    "ZmVhdHVyZXMYAiADKAJiBnByb3RvMw=="
#define PROTO_ANSWER(schema, more)                                                                 \
    "{\"schemaType\": \"PROTOBUF\", \"schema\": \"" schema "\"" more "}"

START_TEST(descriptors_are_fetched_for_each_type_of_the_frame)
{
    static const char item[] = PROTO_ANSWER(ITEM_FILE, "");
    static const char list[] =
        PROTO_ANSWER(LIST_FILE, ", \"references\": [{\"name\": \"item.proto\", \"subject\": "
                                "\"item\", \"version\": 3}]");
    struct registry r = {.paths = {"/schemas/ids/7?format=serialized",
                                   "/subjects/item/versions/3?format=serialized"},
                         .bodies = {list, item}};
    struct ek_error e = {0};
    registry_open(&r);
    struct ek_schema_source *s = open_encoding(&r, 60000, 10, EK_MESSAGES_PROTOBUF);
    ck_assert_ptr_null(find(s, ek_schema_key(7, 0), &e));
    ck_assert_ptr_nonnull(strstr(e.message,
                                 "schema id 7: 'message.items' is 'items', but the schema "
                                 "has no field 'items' there"));
    const struct ek_message_schema *schema = find(s, ek_schema_key(7, 1 << 16), &e);
    ck_assert_msg(schema != NULL, "%s", e.message);
    ck_assert_ptr_eq(find(s, ek_schema_key(7, 1 << 16), &e), schema);
    ck_assert_int_eq(atomic_load(&r.requests), 4);
    ck_assert_ptr_null(find(s, ek_schema_key(7, 2 << 16), &e));
    ck_assert_str_eq(e.message,
                     "schema id 7: the schema has no message with the indexes of the frame");
    ek_schema_source_close(s);
    registry_close(&r);
}
END_TEST

START_TEST(answers_without_descriptors_are_refused_with_the_reason)
{
    static const struct {
        const char *body, *message;
    } bad[] = {
        {PROTO_ANSWER("syntax = proto3;", ""), "schema id 7: the schema registry answers with text "
                                               "in place of descriptors; use a file of "
                                               "protoc ('message.schema')"},
        {PROTO_ANSWER("AAAA", ""),
         "schema id 7: it has no valid descriptors; write it with `protoc --include_imports "
         "--descriptor_set_out=FILE`"},
        {"{\"schema\": \"{}\"}", "schema id 7: a schema of type 'AVRO', expected PROTOBUF"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct registry r = {.paths = {"/schemas/ids/7?format=serialized"},
                             .bodies = {bad[i].body}};
        struct ek_error e;
        registry_open(&r);
        struct ek_schema_source *s = open_encoding(&r, 60000, 10, EK_MESSAGES_PROTOBUF);
        ck_assert_ptr_null(find(s, 7, &e));
        ck_assert_str_eq(e.message, bad[i].message);
        ek_schema_source_close(s);
        registry_close(&r);
    }
}
END_TEST

START_TEST(an_unknown_id_is_asked_for_once)
{
    struct registry r = {0};
    struct ek_error e;
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 60000, 10);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(find(s, 9, &e));
        ck_assert_int_eq(e.code, EK_EFORMAT);
        ck_assert_str_eq(
            e.message,
            "schema id 9: the schema registry answers with status 404 for /schemas/ids/9");
    }
    ck_assert_int_eq(atomic_load(&r.requests), 1);
    ek_schema_source_close(s);
    registry_close(&r);
}
END_TEST

START_TEST(many_unknown_ids_are_no_flood_of_requests)
{
    struct registry r = {0};
    struct ek_error e;
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 60000, 10);
    for (int i = 0; i < 1000; i++)
        ck_assert_ptr_null(find(s, i, &e));
    ck_assert_int_lt(atomic_load(&r.requests), 200);
    ek_schema_source_close(s);
    registry_close(&r);
}
END_TEST

START_TEST(a_registry_that_is_away_costs_the_timeout_once)
{
    char *list = list_schema(ITEM, "");
    struct registry r = {.paths = {"/schemas/ids/7"}, .bodies = {list}, .refuses = true};
    struct ek_error e;
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 3000, 10);
    ck_assert_ptr_null(find(s, 7, &e));
    ck_assert_ptr_nonnull(strstr(e.message, "schema id 7: the schema registry is not available: "));
    int requests = atomic_load(&r.requests);
    ck_assert_int_gt(requests, 1);
    ck_assert_ptr_null(find(s, 8, &e));
    ck_assert_str_eq(e.message, "schema id 8: the schema registry is not available");
    ck_assert_int_eq(atomic_load(&r.requests), requests);
    atomic_store(&r.refuses, false);
    while (!find(s, 7, &e)) /* after the pause */
        usleep(50000);
    ek_schema_source_close(s);
    registry_close(&r);
    free(list);
}
END_TEST

START_TEST(a_server_error_is_tried_again_within_the_timeout)
{
    struct registry r = {.status = 500};
    struct ek_error e;
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 3000, 10);
    ck_assert_ptr_null(find(s, 7, &e));
    ck_assert_str_eq(e.message, "schema id 7: the schema registry is not available: status 500 for "
                                "/schemas/ids/7");
    ck_assert_int_gt(atomic_load(&r.requests), 1);
    ek_schema_source_close(s);
    registry_close(&r);
}
END_TEST

START_TEST(garbage_is_refused_with_its_reason)
{
    static const struct {
        const char *body, *message;
    } bad[] = {
        {"", "the answer of the schema registry is empty"},
        {"<html>", "the answer of the schema registry is no JSON: "},
        {"[]", "the answer of the schema registry has no 'schema'"},
        {"{\"schema\": 7}", "the answer of the schema registry has no 'schema'"},
        {"{\"schema\": \"{}\"}", "a type has no 'type'"},
        {"{\"schema\": \"syntax = proto3\", \"schemaType\": \"PROTOBUF\"}",
         "a schema of type 'PROTOBUF', expected AVRO"},
        {"{\"schema\": \"[]\", \"references\": [7]}",
         "a reference of the schema registry is invalid"},
        {"{\"schema\": \"{\\\"type\\\": \\\"record\\\", \\\"name\\\": \\\"A\\\", \\\"fields\\\": "
         "[]}\"}",
         "'message.items' is 'items', but the schema has no field 'items' there; it has: "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct registry r = {.paths = {"/schemas/ids/7"}, .bodies = {bad[i].body}};
        struct ek_error e;
        registry_open(&r);
        struct ek_schema_source *s = open_source(&r, 60000, 10);
        ck_assert_ptr_null(find(s, 7, &e));
        ck_assert_msg(
            !strncmp(e.message + strlen("schema id 7: "), bad[i].message, strlen(bad[i].message)),
            "%s", e.message);
        ek_schema_source_close(s);
        registry_close(&r);
    }
}
END_TEST

START_TEST(a_schema_of_100_megabytes_is_refused_in_bounded_memory)
{
    struct registry r = {.paths = {"/schemas/ids/7"}, .bodies = {"{"}, .huge = 100 << 20};
    struct ek_error e;
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 30000, 10);
    ck_assert_ptr_null(find(s, 7, &e));
    ck_assert_str_eq(e.message,
                     "schema id 7: the answer of the schema registry to /schemas/ids/7 has more "
                     "than 3 MiB");
    ek_schema_source_close(s);
    registry_close(&r);
}
END_TEST

START_TEST(no_more_schemas_are_cached_than_the_limit)
{
    char *list = list_schema(ITEM, "");
    struct registry r = {.paths = {"/schemas/ids/7", "/schemas/ids/8"}, .bodies = {list, list}};
    struct ek_error e;
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 60000, 1);
    ck_assert_ptr_nonnull(find(s, 7, &e));
    ck_assert_ptr_null(find(s, 8, &e));
    ck_assert_str_eq(e.message, "schema id 8: more than 1 schemas; raise 'message.registry.cache'");
    ek_schema_source_close(s);
    registry_close(&r);
    free(list);
}
END_TEST

struct seeker {
    const struct ek_schema_source *s;
    const struct ek_message_schema *found;
};

static void *seek(void *context)
{
    struct seeker *k = context;
    struct ek_error e;
    k->found = find(k->s, 7, &e);
    return NULL;
}

START_TEST(threads_wait_for_one_request)
{
    enum { THREADS = 8 };
    char *list = list_schema(ITEM, "");
    struct registry r = {.paths = {"/schemas/ids/7"}, .bodies = {list}};
    pthread_t thread[THREADS];
    struct seeker seeker[THREADS];
    registry_open(&r);
    struct ek_schema_source *s = open_source(&r, 60000, 10);
    for (int i = 0; i < THREADS; i++) {
        seeker[i] = (struct seeker){s, NULL};
        ck_assert(!pthread_create(&thread[i], NULL, seek, &seeker[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_ptr_nonnull(seeker[i].found);
    }
    ck_assert_int_eq(atomic_load(&r.requests), 1);
    ek_schema_source_close(s);
    registry_close(&r);
    free(list);
}
END_TEST

Suite *suite_schema_source(void)
{
    return ek_suite(
        "schemas of a registry", a_schema_is_fetched_once_with_the_user_and_shared,
        references_are_resolved, descriptors_are_fetched_for_each_type_of_the_frame,
        answers_without_descriptors_are_refused_with_the_reason, an_unknown_id_is_asked_for_once,
        many_unknown_ids_are_no_flood_of_requests, a_registry_that_is_away_costs_the_timeout_once,
        a_server_error_is_tried_again_within_the_timeout, garbage_is_refused_with_its_reason,
        a_schema_of_100_megabytes_is_refused_in_bounded_memory,
        no_more_schemas_are_cached_than_the_limit, threads_wait_for_one_request);
}
