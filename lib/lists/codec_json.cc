#include "lists/codec_json.h"

/* C headers. */
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "base/alloc.h"
#include "lists/codec_wire.h"
#pragma GCC diagnostic pop
}

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>
#include <simdjson.h>

namespace od = simdjson::ondemand;
using simdjson::error_code;

namespace
{

enum {
    /* Maximum msgpack bytes per byte of text, rounded up: "0," in an array becomes a float64 of
     * nine bytes. Unescaping may write after a string; SLACK covers that. */
    GROWTH = 5,
    CONTAINER_HEAD = 5,
    /* The shortest key with a place, and its separator: "":0, */
    BYTES_OF_PLACE = 5,
    SLACK = 4096,
    SHORT_TEXT_MOST = 31,
    SHORT_NUMBER_MOST = 19
};

struct place {
    uint32_t wire, text, length;
};

} // namespace

struct ek_json {
    od::parser parser;
    size_t capacity; /* of the text */
    uint8_t *text;   /* copy with the padding that simdjson requires */
    uint8_t *wire, *end;
    struct place *places;
    size_t place_count;
    struct place current; /* the last one of ek_json_place that was not in `places` */
    size_t length;        /* of the text */
};

namespace
{

int make(struct ek_json **out)
{
    void *memory = ek_calloc(1, sizeof(struct ek_json));
    if (!memory)
        return EK_ENOMEM;
    *out = new (memory) ek_json();
    return EK_OK;
}

template <typename T> bool grow(T **array, size_t count)
{
    void *larger = ek_realloc(*array, count, sizeof(T));
    if (larger)
        *array = static_cast<T *>(larger);
    return larger != nullptr;
}

int make_room(struct ek_json *j, size_t length)
{
    if (length <= j->capacity && j->capacity)
        return EK_OK;
    size_t want = length + length / 2 + SLACK;
    j->capacity = 0;
    if (!grow(&j->text, want + simdjson::SIMDJSON_PADDING) ||
        !grow(&j->wire, GROWTH * want + CONTAINER_HEAD * EK_JSON_DEPTH_MAX + SLACK) ||
        !grow(&j->places, want / BYTES_OF_PLACE + 1) || j->parser.allocate(want, EK_JSON_DEPTH_MAX))
        return EK_ENOMEM;
    j->capacity = want;
    return EK_OK;
}

bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Return the token without trailing white space. */
std::string_view token_of(od::value &v)
{
    std::string_view token = v.raw_json_token();
    while (!token.empty() && is_space(token.back()))
        token.remove_suffix(1);
    return token;
}

size_t digits(std::string_view s, size_t from)
{
    size_t to = from;
    while (to < s.size() && s[to] >= '0' && s[to] <= '9')
        to++;
    return to - from;
}

/* End positions of the parts of a JSON number. */
struct parts {
    size_t whole, fraction, exponent;
};

bool take_apart(std::string_view s, struct parts *p)
{
    size_t at = !s.empty() && s[0] == '-', more = digits(s, at);
    if (!more || (more > 1 && s[at] == '0'))
        return false;
    p->whole = p->fraction = at += more;
    if (at < s.size() && s[at] == '.') {
        more = digits(s, at + 1);
        p->fraction = at += 1 + more;
        if (!more)
            return false;
    }
    p->exponent = at;
    if (at < s.size() && (s[at] == 'e' || s[at] == 'E')) {
        at += 1 + (at + 1 < s.size() && (s[at + 1] == '+' || s[at + 1] == '-'));
        more = digits(s, at);
        p->exponent = at += more;
        if (!more)
            return false;
    }
    return at == s.size();
}

/* Return true if a number out of range underflows. */
bool vanishes(std::string_view s, const struct parts &p)
{
    size_t first = s.find_first_of("123456789");
    bool negative = p.exponent > p.fraction && s[p.fraction + 1] == '-';
    std::string_view power = s.substr(p.fraction, p.exponent - p.fraction);
    if (power.find_first_of("123456789") == power.npos)
        return first > p.whole;
    return negative;
}

/* simdjson 3.0 misreads some numbers of more than 19 digits (its issue 2093). The standard library
 * parses them, but does not check JSON's grammar. */
error_code parse_long(std::string_view s, double *out)
{
    struct parts p;
    if (!take_apart(s, &p))
        return simdjson::NUMBER_ERROR;
    std::from_chars_result r = std::from_chars(s.data(), s.data() + s.size(), *out);
    if (r.ec != std::errc()) {
        if (!vanishes(s, p))
            return simdjson::NUMBER_ERROR;
        *out = s[0] == '-' ? -0.0 : 0.0;
    }
    return std::isfinite(*out) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
}

/* Conversion of one text. The output has its maximum size reserved, so no bounds are checked. */
struct writer {
    struct ek_json *j;
    uint8_t *p;
    int depth;
    const char *token; /* start of the current value */

    void tag32(uint8_t tag, uint32_t value)
    {
        *p = tag;
        ek_store_be32(p + 1, value);
        p += 5;
    }

    void tag64(uint8_t tag, uint64_t value)
    {
        *p = tag;
        ek_store_be64(p + 1, value);
        p += 9;
    }

    /* Unescape to the position of a long string, then move a short one back. The parser's string
     * buffer stays unused, because simdjson does not check its allocation. */
    error_code string(od::raw_json_string raw)
    {
        std::string_view s;
        uint8_t *to = p + CONTAINER_HEAD;
        error_code failed = j->parser.unescape(raw, to).get(s);
        if (failed)
            return failed;
        if (s.size() <= SHORT_TEXT_MOST) {
            *p = static_cast<uint8_t>(EK_TAG_SHORT_TEXT | s.size());
            memmove(p + 1, s.data(), s.size());
            p += 1 + s.size();
        } else {
            tag32(EK_TAG_TEXT32, static_cast<uint32_t>(s.size()));
            p += s.size();
        }
        return simdjson::SUCCESS;
    }

    error_code real(od::value &v)
    {
        double number;
        std::string_view s = token_of(v);
        error_code failed =
            s.size() > SHORT_NUMBER_MOST ? parse_long(s, &number) : v.get_double().get(number);
        if (failed)
            return simdjson::NUMBER_ERROR;
        tag64(EK_TAG_FLOAT64, ek_double_to_bits(number));
        return simdjson::SUCCESS;
    }

    void note_place(std::string_view s)
    {
        j->places[j->place_count++] = {
            static_cast<uint32_t>(p - j->wire),
            static_cast<uint32_t>(s.data() - reinterpret_cast<const char *>(j->text)),
            static_cast<uint32_t>(s.size())};
    }

    error_code keyed_number(od::value &v, std::string_view s)
    {
        int64_t whole;
        uint64_t large;
        bool zero = s == "-0";
        if (zero || s.find_first_of(".eE") != std::string_view::npos)
            return real(v);
        if (!v.get_int64().get(whole)) {
            if (whole >= 0 && whole < EK_TAG_SHORT_MAP)
                *p++ = static_cast<uint8_t>(whole);
            else
                tag64(EK_TAG_INT64, static_cast<uint64_t>(whole));
            return simdjson::SUCCESS;
        }
        if (v.get_uint64().get(large))
            return real(v);
        tag64(EK_TAG_UINT64, large);
        return simdjson::SUCCESS;
    }

    error_code number(od::value &v, bool keyed)
    {
        if (!keyed)
            return real(v);
        std::string_view s = token_of(v);
        note_place(s);
        return keyed_number(v, s);
    }

    error_code null(od::value &v, bool keyed)
    {
        bool is;
        std::string_view s = token_of(v);
        error_code failed = v.is_null().get(is);
        if (failed || !is)
            return simdjson::N_ATOM_ERROR;
        if (keyed)
            note_place(s);
        *p++ = EK_TAG_NIL;
        return simdjson::SUCCESS;
    }

    error_code boolean(od::value &v)
    {
        bool b;
        if (v.get_bool().get(b))
            return simdjson::T_ATOM_ERROR;
        *p++ = b ? EK_TAG_TRUE : EK_TAG_FALSE;
        return simdjson::SUCCESS;
    }

    error_code text(od::value &v)
    {
        od::raw_json_string raw;
        error_code failed = v.get_raw_json_string().get(raw);
        return failed ? failed : string(raw);
    }

    error_code array(od::value &v)
    {
        od::array a;
        uint8_t *head = p;
        uint32_t count = 0;
        error_code failed = v.get_array().get(a);
        if (failed)
            return failed;
        tag32(EK_TAG_ARRAY32, 0);
        for (auto element : a) {
            od::value inner;
            error_code bad = std::move(element).get(inner);
            if (bad || (bad = value(inner, false)))
                return bad;
            count++;
        }
        ek_store_be32(head + 1, count);
        return simdjson::SUCCESS;
    }

    error_code pair(od::field &f)
    {
        token = f.key().raw() - 1;
        error_code failed = string(f.key());
        if (failed)
            return failed;
        return value(f.value(), true);
    }

    error_code object(od::object &o)
    {
        uint8_t *head = p;
        uint32_t count = 0;
        tag32(EK_TAG_MAP32, 0);
        for (auto element : o) {
            od::field f;
            error_code failed = std::move(element).get(f);
            if (failed || (failed = pair(f)))
                return failed;
            count++;
        }
        ek_store_be32(head + 1, count);
        return simdjson::SUCCESS;
    }

    error_code inner_object(od::value &v)
    {
        od::object o;
        error_code failed = v.get_object().get(o);
        return failed ? failed : object(o);
    }

    /* `token` is at the bracket. */
    error_code container(od::value &v, od::json_type type, bool keyed)
    {
        if (!depth)
            return simdjson::DEPTH_ERROR;
        if (keyed && type == od::json_type::array)
            note_place({token, 1});
        depth--;
        error_code failed = type == od::json_type::array ? array(v) : inner_object(v);
        depth++;
        return failed;
    }

    error_code value(od::value &v, bool keyed)
    {
        od::json_type type;
        token = v.raw_json_token().data();
        error_code failed = v.type().get(type);
        if (failed)
            return failed;
        switch (type) {
        case od::json_type::number:
            return number(v, keyed);
        case od::json_type::string:
            return text(v);
        case od::json_type::null:
            return null(v, keyed);
        case od::json_type::boolean:
            return boolean(v);
        default:
            return container(v, type, keyed);
        }
    }
};

const char *word_for(error_code failed)
{
    switch (failed) {
    case simdjson::UTF8_ERROR:
        return "not UTF-8";
    case simdjson::UNESCAPED_CHARS:
        return "a control character within a text";
    case simdjson::UNCLOSED_STRING:
        return "a text does not end";
    case simdjson::STRING_ERROR:
        return "a wrong escape within a text";
    case simdjson::NUMBER_ERROR:
        return "no number, or one beyond the range of a double";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
        return "neither true, false nor null";
    case simdjson::INCORRECT_TYPE:
        return "expected an object";
    case simdjson::DEPTH_ERROR:
        return "nested too deep";
    case simdjson::TRAILING_CONTENT:
        return "something follows the end of the object";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
        return "it does not end with the bracket that closes it";
    default:
        return "expected a value, a comma, a colon or a bracket";
    }
}

int code_for(error_code failed)
{
    if (failed == simdjson::MEMALLOC)
        return EK_ENOMEM;
    return failed == simdjson::DEPTH_ERROR ? EK_ELIMIT : EK_EFORMAT;
}

int fail(struct ek_json_fault *fault, const struct writer *w, error_code failed)
{
    const char *start = reinterpret_cast<const char *>(w->j->text);
    *fault = {word_for(failed), w->token ? static_cast<size_t>(w->token - start) : SIZE_MAX};
    return code_for(failed);
}

error_code read_document(struct writer *w, size_t length)
{
    struct ek_json *j = w->j;
    od::document document;
    od::object top;
    error_code failed =
        j->parser.iterate(j->text, length, j->capacity + simdjson::SIMDJSON_PADDING).get(document);
    if (!failed)
        failed = document.get_object().get(top);
    if (!failed)
        failed = w->object(top);
    const char *behind;
    if (!failed && !document.current_location().get(behind)) {
        w->token = behind;
        failed = simdjson::TRAILING_CONTENT;
    }
    return failed;
}

/* Return the length of the token at a position of the text, which is valid JSON; 1 for brackets. */
uint32_t token_length(const struct ek_json *j, uint32_t at)
{
    size_t end = at + 1;
    if (j->text[at] == '"') {
        for (; end < j->length && j->text[end] != '"'; end++)
            end += j->text[end] == '\\';
        end++;
    } else if (j->text[at] != '[' && j->text[at] != '{') {
        while (end < j->length && !strchr(" \t\r\n,:]}", j->text[end]))
            end++;
    }
    return static_cast<uint32_t>(end - at);
}

/* Return the position of the next token at or after `at`. */
uint32_t next_token(const struct ek_json *j, size_t at)
{
    while (at < j->length && strchr(" \t\r\n,:]}", j->text[at]))
        at++;
    return static_cast<uint32_t>(at);
}

struct place first_place(const struct ek_json *j)
{
    return {0, next_token(j, 0), 0};
}

/* Advance by one msgpack header and the token that it stands for. Both are in the same order, as
 * closing brackets have no header. */
bool next_place(const struct ek_json *j, struct place *at)
{
    struct ek_wire w = {j->wire, j->wire + at->wire, j->end};
    struct ek_head h;
    if (at->text >= j->length || ek_wire_head(&w, &h) != EK_WIRE_OK)
        return false;
    size_t payload = h.kind == EK_WIRE_TEXT ? h.count : 0;
    at->wire = static_cast<uint32_t>(w.p - j->wire + payload);
    at->text = next_token(j, at->text + token_length(j, at->text));
    return true;
}

size_t written(char *out, std::to_chars_result r)
{
    return static_cast<size_t>(r.ptr - out);
}

} // namespace

int ek_json_read(struct ek_json **json, const void *text, size_t length, int depth,
                 struct ek_json_fault *fault)
{
    int rc = *json ? EK_OK : make(json);
    if (!rc)
        rc = make_room(*json, length);
    if (rc)
        return rc;
    struct ek_json *j = *json;
    struct writer w = {j, j->wire, depth - 1, nullptr};
    memcpy(j->text, text, length);
    memset(j->text, ' ', ek_json_frame(text, length)); /* so that positions stay */
    memset(j->text + length, ' ', simdjson::SIMDJSON_PADDING);
    j->place_count = 0;
    j->length = length;
    error_code failed = read_document(&w, length);
    j->end = w.p;
    j->current = first_place(j);
    return failed ? fail(fault, &w, failed) : EK_OK;
}

void ek_json_free(struct ek_json *json)
{
    if (!json)
        return;
    ek_free(json->text);
    ek_free(json->wire);
    ek_free(json->places);
    json->~ek_json();
    ek_free(json);
}

const uint8_t *ek_json_wire(const struct ek_json *json, size_t *length)
{
    *length = static_cast<size_t>(json->end - json->wire);
    return json->wire;
}

bool ek_json_place(struct ek_json *j, size_t offset, struct ek_place *out)
{
    size_t low = 0, high = j->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->places[middle].wire < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < j->place_count && j->places[low].wire == offset) {
        *out = {j->places[low].text, j->places[low].length};
        return true;
    }
    if (j->current.wire > offset)
        j->current = first_place(j);
    if (low && j->places[low - 1].wire > j->current.wire)
        j->current = j->places[low - 1];
    while (j->current.wire < offset)
        if (!next_place(j, &j->current))
            return false;
    *out = {j->current.text, token_length(j, j->current.text)};
    return j->current.wire == offset;
}

size_t ek_json_double(char out[EK_JSON_NUMBER_BYTES], double value)
{
    return std::isfinite(value)
               ? written(out, std::to_chars(out, out + EK_JSON_NUMBER_BYTES, value))
               : 0;
}

size_t ek_json_plain(char out[EK_JSON_NUMBER_BYTES], double value)
{
    static const double PLAIN = 1e21;
    if (std::fabs(value) < PLAIN && std::trunc(value) == value)
        return written(
            out, std::to_chars(out, out + EK_JSON_NUMBER_BYTES, value, std::chars_format::fixed));
    return ek_json_double(out, value);
}

/* Decoders round twice, to double and then to float. In the rare case that this yields another
 * float, write the digits of the double. */
size_t ek_json_float(char out[EK_JSON_NUMBER_BYTES], float value)
{
    static const double BEYOND = 1e39;
    double back = 0;
    if (std::isinf(value))
        return ek_json_double(out, value > 0 ? BEYOND : -BEYOND);
    if (std::isnan(value))
        return 0;
    size_t length = written(out, std::to_chars(out, out + EK_JSON_NUMBER_BYTES, value));
    std::from_chars(out, out + length, back);
    return static_cast<float>(back) == value ? length
                                             : ek_json_double(out, static_cast<double>(value));
}

size_t ek_json_printed(char out[EK_JSON_NUMBER_BYTES], float value)
{
    static const long LEAST = 6;
    char *end = out + EK_JSON_NUMBER_BYTES;
    size_t length = written(out, std::to_chars(out, end, value, std::chars_format::scientific));
    const char *mark = static_cast<const char *>(memchr(out, 'e', length));
    if (!mark) /* nan, inf */
        return length;
    long digits = mark - out - (out[0] == '-'), exponent = 0;
    digits -= digits > 1; /* the point */
    std::from_chars(mark + 1 + (mark[1] == '+'), out + length, exponent);
    if (exponent < -4 || exponent >= std::max(digits, LEAST))
        return length;
    return written(out, std::to_chars(out, end, value, std::chars_format::fixed));
}
