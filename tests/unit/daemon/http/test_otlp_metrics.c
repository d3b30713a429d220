/* OTLP requests from the text of /metrics. */
#include "daemon/http/otlp_export.h"
#include "base/error.h"
#include "tests/check.h"

static const struct ek_otlp_resource RESOURCE = {"hotels", "one", "1.2", 1000, 2000};

#define HEAD                                                                                       \
    "{\"resourceMetrics\":[{\"resource\":{\"attributes\":["                                        \
    "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"hotels\"}},"                           \
    "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.2\"}},"                           \
    "{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"one\"}}]},"                     \
    "\"scopeMetrics\":[{\"scope\":{\"name\":\"evenkeel\"},\"metrics\":["
#define TIMES "\"startTimeUnixNano\":\"1000000000\",\"timeUnixNano\":\"2000000000\""

static void assert_request(const char *text, const char *metrics)
{
    struct ek_buf out, want;
    ek_buf_init(&out, 0);
    ek_buf_init(&want, 0);
    ek_buf_printf(&want, "%s%s]}]}]}", HEAD, metrics);
    ck_assert_int_eq(ek_otlp_metrics(text, &RESOURCE, &out), EK_OK);
    ck_assert_str_eq(ek_buf_string(&out), ek_buf_string(&want));
    ek_buf_release(&want);
    ek_buf_release(&out);
}

START_TEST(counters_are_sums_and_gauges_have_their_labels)
{
    assert_request("", "");
    assert_request(
        "# HELP a_total Lists \"seen\".\n# TYPE a_total counter\na_total 50\n"
        "# HELP none Nothing.\n# TYPE none gauge\n"
        "# HELP b Level.\n# TYPE b gauge\nb{feature=\"pri\\\"ce\\\\\",segment=\"arm=B}\\n\"} 1.5\n"
        "b{feature=\"x\"} NaN\n",
        "{\"name\":\"a_total\",\"description\":\"Lists \\\"seen\\\".\",\"sum\":{"
        "\"aggregationTemporality\":2,\"isMonotonic\":true,\"dataPoints\":[{\"attributes\":[]"
        "," TIMES ",\"asDouble\":50}]}},"
        "{\"name\":\"b\",\"description\":\"Level.\",\"gauge\":{\"dataPoints\":[{\"attributes\":["
        "{\"key\":\"feature\",\"value\":{\"stringValue\":\"pri\\\"ce\\\\\"}},"
        "{\"key\":\"segment\",\"value\":{\"stringValue\":\"arm=B}\\u000a\"}}],"
        "\"timeUnixNano\":\"2000000000\",\"asDouble\":1.5}]}}");
    assert_request("# HELP q Q.\n# TYPE q summary\nq{quantile=\"0.5\"} 2\n",
                   "{\"name\":\"q\",\"description\":\"Q.\",\"gauge\":{\"dataPoints\":[{"
                   "\"attributes\":[{\"key\":\"quantile\",\"value\":{\"stringValue\":\"0.5\"}}],"
                   "\"timeUnixNano\":\"2000000000\",\"asDouble\":2}]}}");
}
END_TEST

START_TEST(a_histogram_has_the_counts_between_its_bounds)
{
    assert_request("# HELP h Time.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 2\nh_bucket{le=\"1\"} "
                   "5\nh_bucket{le=\"+Inf\"} 6\nh_sum 3.5\nh_count 6\n",
                   "{\"name\":\"h\",\"description\":\"Time.\",\"histogram\":{"
                   "\"aggregationTemporality\":2,\"dataPoints\":[{\"attributes\":[]," TIMES
                   ",\"count\":\"6\",\"sum\":3.5,\"bucketCounts\":[\"2\",\"3\",\"1\"],"
                   "\"explicitBounds\":[0.10000000000000001,1]}]}}");
}
END_TEST

START_TEST(another_text_is_an_error)
{
    static const char *const texts[] = {
        "a 1\n",
        "# HELP a A.\n# TYPE a gauge\na\n",
        "# HELP a A.\n# TYPE a gauge\na one\n",
        "# HELP a A.\n# TYPE a gauge\na{b} 1\n",
        "# HELP a A.\n# TYPE a gauge\na{b=\"c} 1\n",
        "# HELP a A.\n# TYPE a gauge\na{b=\"c\\",
        "# HELP a A.\n# TYPE a untyped\na 1\n",
        "# HELP a A.\n# TYPE a histogram\na_bucket{lo=\"1\"} 1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ek_buf out;
        ek_buf_init(&out, 0);
        ck_assert_msg(ek_otlp_metrics(texts[i], &RESOURCE, &out) == EK_EFORMAT, "%s", texts[i]);
        ek_buf_release(&out);
    }
}
END_TEST

Suite *suite_otlp_metrics(void)
{
    return ek_suite("otlp_metrics", counters_are_sums_and_gauges_have_their_labels,
                    a_histogram_has_the_counts_between_its_bounds, another_text_is_an_error);
}
