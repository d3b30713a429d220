/* Allocation failures while a collection is read, indexed and searched. */
#include "base/file.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "text/index/build.h"
#include "text/index/index.h"
#include "text/features/retrieve.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char texts[] = "/tmp/ek-alloc-collection-XXXXXX", path[] = "/tmp/ek-alloc-index-XXXXXX";

static const char TREC[] = "<DOC><DOCNO>a</DOCNO><TITLE>one two</TITLE>two &amp; three</DOC>\n"
                           "<DOC><DOCNO>b</DOCNO>two na\xc3\xafve <H1>four</H1></DOC>\n";
static const char JSON[] = "{\"id\":\"a\",\"title\":\"one two\",\"body\":[\"two\",\"three\"]}\n";

static int read_into(struct ek_build *b, struct ek_error *e)
{
    struct ek_collection *c;
    struct ek_record_text r;
    bool more = true;
    int rc = ek_collection_open(&c, texts, EK_COLLECTION_AUTO, e);
    if (rc)
        return rc;
    while (!rc && !(rc = ek_collection_next(c, &r, &more, e)) && more)
        rc = ek_build_add(b, &r, texts, e);
    ek_collection_close(c);
    return rc;
}

static int build(struct ek_error *e)
{
    struct ek_build *b;
    int rc = ek_build_new(&b, path, "english", EK_BUILD_MEMORY, e);
    if (rc)
        return rc;
    rc = read_into(b, e);
    if (!rc)
        rc = ek_build_finish(b, NULL, NULL, e);
    ek_build_free(b);
    return rc;
}

static int walk(const struct ek_index *x, struct ek_error *e)
{
    struct ek_document d;
    struct ek_postings p;
    bool more = true;
    ek_document_init(&d);
    int rc = ek_index_read(x, 0, &d, e);
    ek_document_release(&d);
    if (!rc)
        rc = ek_postings_begin(&p, x, 0, EK_FIELD_BODY, true, e);
    if (rc)
        return rc;
    while (!rc && more)
        rc = ek_postings_next(&p, &more, e);
    ek_postings_end(&p);
    return rc;
}

static int search(struct ek_error *e)
{
    struct ek_retrieve *r;
    struct ek_index *x;
    struct ek_hit hits[2];
    uint32_t found, terms[] = {0, 1, 2};
    int rc = ek_index_open(&x, path, e);
    if (rc)
        return rc;
    rc = walk(x, e);
    if (!rc)
        rc = ek_retrieve_new(&r, x, EK_BM25_DEFAULT, e);
    if (!rc) {
        rc = ek_retrieve(r, terms, 3, 2, hits, &found, e);
        ek_retrieve_free(r);
    }
    ek_index_close(x);
    return rc;
}

static void begin(const char *collection)
{
    close(mkstemp(texts));
    close(mkstemp(path));
    ck_assert_int_eq(ek_file_write(texts, collection, NULL), EK_OK);
}

static void end(void)
{
    unlink(texts);
    unlink(path);
}

START_TEST(indexes_of_trec_text_survive_any_allocation_failing)
{
    begin(TREC);
    ek_sweep(build);
    ek_sweep(search);
    end();
}
END_TEST

START_TEST(indexes_of_json_survive_any_allocation_failing)
{
    begin(JSON);
    ek_sweep(build);
    end();
}
END_TEST

Suite *suite_collections(void);
Suite *suite_collections(void)
{
    return ek_suite("collections", indexes_of_trec_text_survive_any_allocation_failing,
                    indexes_of_json_survive_any_allocation_failing);
}
