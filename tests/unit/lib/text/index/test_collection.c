/* Collections: both formats yield their documents, errors have positions. */
#include "base/file.h"
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "text/index/collection.h"
#include "text/index/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH "test_collection.txt"

/* Return the documents of a text: "id|url|title|body|heading|inlink|anchor", line ends as '/',
 * documents separated by ';'; or the error. */
static const char *read_as(const char *text, enum ek_collection_format format)
{
    static char told[4096], full[700];
    struct ek_collection *c = NULL;
    struct ek_record_text r;
    struct ek_error e = {0};
    bool more = true;
    told[0] = 0;
    ck_assert_int_eq(ek_file_write(PATH, text, NULL), EK_OK);
    int rc = ek_collection_open(&c, PATH, format, &e);
    while (!rc && !(rc = ek_collection_next(c, &r, &more, &e)) && more) {
        size_t n = strlen(told);
        const struct ek_text *f = r.field;
        const struct ek_text all[] = {r.id, r.url, f[0], f[1], f[2], f[3], f[4]};
        for (int i = 0; i < 7; i++)
            n += (size_t)snprintf(told + n, sizeof told - n, "%s%.*s",
                                  i   ? "|"
                                  : n ? ";"
                                      : "",
                                  (int)all[i].length, all[i].length ? all[i].text : "");
    }
    ek_collection_close(c);
    unlink(PATH);
    for (char *p = told; *p; p++)
        *p = *p == '\n' ? '/' : *p;
    return rc ? ek_error_text(&e, full, sizeof full) : told;
}

static const char *read_it(const char *text)
{
    return read_as(text, EK_COLLECTION_AUTO);
}

START_TEST(json_lines_have_texts_and_arrays_of_texts)
{
    ck_assert_str_eq(
        read_it("{\"id\":\"a\",\"title\":\"T\",\"body\":[\"x\",\"y z\"],\"url\":\"u\"}\n\n"
                "  {\"id\":7,\"anchor\":\"q\",\"heading\":null,\"other\":{\"b\":[1]},"
                "\"inlink\":[\"i\"]}\n"),
        "a|u|T|x/y z|||;7|||||i|q");
    ck_assert_str_eq(read_it(""), "");
    ck_assert_str_eq(read_it("\xef\xbb\xbf{\"id\":\"a\"}"), "a||||||");
    ck_assert_str_eq(read_it("{\"id\":\"a\",\"body\":\"x\\u00e4\\ny\"}"), "a|||x\xc3\xa4/y|||");
}
END_TEST

START_TEST(faults_of_json_have_their_line)
{
    ck_assert_str_eq(read_it("{\"id\":\"a\"}\n{\"id\":\n"),
                     PATH ":2:7: no JSON: unexpected end of data");
    ck_assert_str_eq(read_it("{\"id\":\"a\"}\n{}\n"), PATH ":2: a document without 'id'");
    ck_assert_str_eq(read_it("{\"id\":\"\"}\n"), PATH ":1: a document without 'id'");
    ck_assert_str_eq(read_it("{\"id\":\"a\"}\n[]\n"),
                     PATH ":2: a document has to be a JSON object");
    ck_assert_str_eq(read_it("{\"id\":1.5}\n"), PATH ":1: 'id' has to be a text or a whole number");
    ck_assert_str_eq(read_it("{\"id\":\"a\",\"body\":3}\n"),
                     PATH ":1: 'body' has to be a text or an array of texts");
    ck_assert_str_eq(read_it("{\"id\":\"a\",\"body\":[\"x\",3]}\n"),
                     PATH ":1: 'body' has to be a text or an array of texts");
    ck_assert_str_eq(read_it("{\"id\":\"a\",\"url\":[]}\n"), PATH ":1: 'url' has to be a text");
    ck_assert_str_eq(read_it("\nhello\n"), PATH
                     ":2: neither JSON lines, which begin with '{', nor TREC text, which begins "
                     "with '<DOC>'");
}
END_TEST

START_TEST(trec_text_has_its_parts_between_tags)
{
    ck_assert_str_eq(
        read_it("<DOC>\n<DOCNO> FT-1 </DOCNO>\n<TITLE>A &amp; B</TITLE>\n<TEXT>\nx <b>y"
                "</b>\nz\n<H1>head</H1> tail</TEXT>\n</DOC>\n"
                "<doc><docno>2</docno><url>http://a/?x&amp;y</url>free text"
                "<ANCHOR>an</ANCHOR><INLINK>in</INLINK><Heading>h</Heading></doc>"
                "<DOC><DOCNO>3</DOCNO></DOC>\n"),
        "FT-1||A & B|x/y/z/tail|head||;2|http://a/?x&y||free text|h|in|an;3||||||");
}
END_TEST

START_TEST(tags_of_others_are_dropped_and_their_text_stays)
{
    ck_assert_str_eq(read_it("<DOC><DOCNO>1</DOCNO><DATE>may</DATE><TITLE>a <i>b</i></TITLE>"
                             "<p class=\"x\ny\">c</p><!-- not this > nor this -->3 < 4</DOC>"),
                     "1||a/b|may/c/3 < 4|||");
    ck_assert_str_eq(read_it("<DOC><DOCNO>1</DOCNO><TITLE>a <H2>b</TITLE> c</DOC>"), "1||a|c|b||");
    ck_assert_str_eq(read_it("<DOC><DOCNO>1</DOCNO>a<TITLE/>b</H1>c</DOC>"), "1|||a/b/c|||");
}
END_TEST

START_TEST(scripts_styles_and_heads_of_trec_text_are_dropped)
{
    ck_assert_str_eq(
        read_it("<DOC><DOCNO>1</DOCNO><DOCHDR>\nhttp://a 127.0.0.1 text/html\n</DOCHDR>"
                "<SCRIPT type=\"x\">if (a<b) { \"</p>\" }</SCRIPT>x<style>p {}</style>"
                "<text>y<script>z</script></text></DOC>"),
        "1|||x/y|||");
}
END_TEST

START_TEST(a_dropped_tag_without_an_end_goes_on_to_that_of_the_document)
{
    ck_assert_str_eq(read_it("<DOC><DOCNO>1</DOCNO>x<script>y<p>z</text></DOC>"
                             "<DOC><DOCNO>2</DOCNO>z</DOC>"),
                     "1|||x|||;2|||z|||");
}
END_TEST

START_TEST(documents_of_trec_text_may_have_attributes_and_a_prolog)
{
    ck_assert_str_eq(read_it("<?xml version=\"1.0\"?>\n<!DOCTYPE x>\n<DOC id=\"7\">"
                             "<DOCNO>1</DOCNO>x</DOC>\n<DOCS>\n"),
                     PATH ":4: '<DOC>' is missing: text outside of documents");
    ck_assert_str_eq(read_it("<?xml version=\"1.0\"?>\n<DOC id=\"7\"><DOCNO>1</DOCNO>x</DOC>\n"),
                     "1|||x|||");
}
END_TEST

START_TEST(a_nul_byte_does_not_hide_the_end_of_a_document)
{
    static const char text[] = "<DOC><DOCNO>1</DOCNO>x\0y</DOC><DOC><DOCNO>2</DOCNO>z</DOC>\n";
    struct ek_collection *c;
    struct ek_record_text r;
    bool more;
    ck_assert_int_eq(ek_file_write_bytes(PATH, text, sizeof text - 1, NULL), EK_OK);
    ck_assert_int_eq(ek_collection_open(&c, PATH, EK_COLLECTION_AUTO, NULL), EK_OK);
    ck_assert_int_eq(ek_collection_next(c, &r, &more, NULL), EK_OK);
    ck_assert(more && r.field[EK_FIELD_BODY].length == 3 &&
              !memcmp(r.field[EK_FIELD_BODY].text, "x\0y", 3));
    ck_assert_int_eq(ek_collection_next(c, &r, &more, NULL), EK_OK);
    ck_assert(more && r.id.length == 1 && *r.id.text == '2');
    ek_collection_close(c);
    unlink(PATH);
}
END_TEST

START_TEST(faults_of_trec_text_have_their_line)
{
    ck_assert_str_eq(read_it("<DOC>\n<DOCNO>1</DOCNO>\n</DOC>\n\n<DOC>\n<DOCNO>2</DOCNO>\n"),
                     PATH ":5: a document that does not end: '</DOC>' is missing");
    ck_assert_str_eq(read_it("<DOC>\nx\n</DOC>\n"), PATH ":1: a document without '<DOCNO>'");
    ck_assert_str_eq(read_it("<DOC><DOCNO>1</DOCNO></DOC>\nstray\n"),
                     PATH ":2: '<DOC>' is missing: text outside of documents");
    ck_assert_str_eq(read_it("<DOC><DOCNO>1</DOCNO>\nx\n<DOC><DOCNO>2</DOCNO></DOC>\n"),
                     PATH ":3: a '<DOC>' within the document of line 1: '</DOC>' is missing");
    ck_assert_str_eq(read_it("<DOC><DOCNO>1</DOCNO><DOCNO>2</DOCNO></DOC>\n"),
                     PATH ":1: a document with a second '<DOCNO>'");
    ck_assert_str_eq(read_as("{\"id\":\"a\"}\n", EK_COLLECTION_TREC),
                     PATH ":1: '<DOC>' is missing: text outside of documents");
}
END_TEST

/* Read the first document of a text and free the text. */
static int first_of(struct ek_buf *b, char said[SAID_BYTES])
{
    struct ek_collection *c = NULL;
    struct ek_record_text r;
    struct ek_error e = {0};
    bool more;
    must(ek_file_write_bytes(PATH, b->data, b->length, NULL));
    ek_buf_release(b);
    int rc = ek_collection_open(&c, PATH, EK_COLLECTION_AUTO, &e);
    if (!rc)
        rc = ek_collection_next(c, &r, &more, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_collection_close(c);
    unlink(PATH);
    return rc;
}

/* That many letters inside a text; a line is at most as long as a document. */
static int among(const char *before, int count, const char *behind, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, (size_t)2 * EK_TEXT_BYTES_MAX);
    must(ek_buf_text(&b, before));
    must(ek_buf_reserve(&b, (size_t)count));
    memset(b.data + b.length, 'x', (size_t)count);
    if (count > 1 << 20)
        b.data[b.length + (size_t)count / 2] = '\n';
    b.length += (size_t)count;
    must(ek_buf_text(&b, behind));
    return first_of(&b, said);
}

static int id_of(int bytes, char said[SAID_BYTES])
{
    return among("{\"id\":\"", bytes, "\"}\n", said);
}

/* A document of that many bytes between its tags, with line ends and the closing line. */
static int document_of(int bytes, char said[SAID_BYTES])
{
    static const char number[] = "\n<DOCNO>1</DOCNO>\n";
    return among("<DOC>\n<DOCNO>1</DOCNO>\n", bytes - (int)strlen(number) - 2, "\n</DOC>\n", said);
}

START_TEST(ids_and_documents_have_limits)
{
    ck_limit(id_of, EK_ID_BYTES_MAX, PATH ":1: ", "an id of 513 bytes, at most 512");
    ck_limit(document_of, EK_TEXT_BYTES_MAX, PATH ":1: ", "a document has more than 16 MiB");
}
END_TEST

static const char *entities(const char *text)
{
    static char told[200];
    snprintf(told, sizeof told, "%s", text);
    told[ek_entities(told, strlen(told))] = 0;
    return told;
}

START_TEST(entities_become_characters)
{
    ck_assert_str_eq(entities("&lt;a&gt; &quot;&apos;&amp;amp;"), "<a> \"'&amp;");
    ck_assert_str_eq(entities("&#65;&#x42;&#x20ac;&#128512;"), "AB\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_str_eq(entities("&nbsp;x"), "\xc2\xa0x");
    ck_assert_str_eq(entities("a & b &; &# &#; &#x; &#xd800; &#0; &#99999999; &foo; &amp"),
                     "a & b &; &# &#; &#x; &#xd800; &#0; &#99999999; &foo; &amp");
}
END_TEST

START_TEST(packed_numbers_are_the_same_again_and_damage_is_told)
{
    uint32_t numbers[300], again[300];
    uint8_t bytes[4000];
    size_t used;
    ck_assert_uint_le(ek_pack_max_bytes(300), sizeof bytes);
    for (uint32_t round = 0; round < 3 * 301; round++) {
        uint32_t count = round % 301;
        for (uint32_t i = 0; i < 300; i++)
            numbers[i] = round < 301   ? 0
                         : round < 602 ? i % 256
                         : i % 7       ? i % 3
                                       : UINT32_MAX >> i % 32;
        for (int kind = EK_PACK_WIDE; kind <= EK_PACK_SMALL; kind++) {
            size_t n = ek_pack_encode((enum ek_pack)kind, numbers, count, bytes);
            ck_assert(ek_pack_decode((enum ek_pack)kind, bytes, n, count, again, &used));
            ck_assert_uint_eq(used, n);
            ck_assert_mem_eq(numbers, again, count * sizeof *numbers);
            if (n)
                ck_assert(!ek_pack_decode((enum ek_pack)kind, bytes, n - 1, count, again, &used));
        }
    }
}
END_TEST

Suite *suite_collection(void);
Suite *suite_collection(void)
{
    return ek_suite(
        "collection", json_lines_have_texts_and_arrays_of_texts, faults_of_json_have_their_line,
        trec_text_has_its_parts_between_tags, tags_of_others_are_dropped_and_their_text_stays,
        scripts_styles_and_heads_of_trec_text_are_dropped,
        a_dropped_tag_without_an_end_goes_on_to_that_of_the_document,
        documents_of_trec_text_may_have_attributes_and_a_prolog,
        a_nul_byte_does_not_hide_the_end_of_a_document, faults_of_trec_text_have_their_line,
        ids_and_documents_have_limits, entities_become_characters,
        packed_numbers_are_the_same_again_and_damage_is_told);
}
