/* SPDX-License-Identifier: MIT */
/* Pages of metrics, checked by hand; tests/cli checks whole pages with
 * prom_check. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "service/http/http_request.h"
#include "service/metrics/metrics.h"
#include "tests/unit/unit.h"

static struct buf out;
static struct metrics_text m;

static void set_up(void)
{
    buf_init(&out, (size_t)1 << 24);
    metrics_text_init(&m, &out);
}

static void tear_down(void)
{
    buf_fini(&out);
}

static void has(const char *text)
{
    ck_assert_msg(strstr(buf_str(&out), text) != NULL, "no %s in\n%s", text,
                  buf_str(&out));
}

/* ---- the format ---- */

FIXTURE(set_up, tear_down);

TEST(a_family_is_help_type_and_samples)
{
    metrics_family(&m, "a", "b_total", METRICS_COUNTER, "Back\\slash\nand \".");
    metrics_uint(&m, NULL, UINT64_MAX);
    metrics_uint(&m, METRICS_LABELS({"l", "q\"b\\n\n\xc3\xbc"}, {"m", ""}), 0);
    metrics_double(&m, METRICS_LABELS({"l", "x"}), 0.001);
    metrics_seconds(&m, NULL, 12000000345);
    ck_assert_str_eq(
        buf_str(&out),
        "# HELP urlweir_a_b_total Back\\\\slash\\nand \".\n"
        "# TYPE urlweir_a_b_total counter\n"
        "urlweir_a_b_total 18446744073709551615\n"
        "urlweir_a_b_total{l=\"q\\\"b\\\\n\\n\xc3\xbc\",m=\"\"} 0\n"
        "urlweir_a_b_total{l=\"x\"} 0.001\n"
        "urlweir_a_b_total 12.000000345\n");
}

TEST(a_histogram_is_cumulative_and_its_count_is_that_of_inf)
{
    struct histogram_stats h = {.sum = 70000500000};

    h.buckets[0] = 2;
    h.buckets[3] = 1;
    h.buckets[HISTOGRAM_BOUNDS] = 1;
    metrics_family(&m, "t", "s_seconds", METRICS_HISTOGRAM, "T.");
    metrics_histogram(&m, METRICS_LABELS({"l", "x"}), &h);
    has("urlweir_t_s_seconds_bucket{l=\"x\",le=\"0.0001\"} 2\n"
        "urlweir_t_s_seconds_bucket{l=\"x\",le=\"0.00025\"} 2\n"
        "urlweir_t_s_seconds_bucket{l=\"x\",le=\"0.0005\"} 2\n"
        "urlweir_t_s_seconds_bucket{l=\"x\",le=\"0.001\"} 3\n"
        "urlweir_t_s_seconds_bucket{l=\"x\",le=\"0.0025\"} 3\n");
    has("urlweir_t_s_seconds_bucket{l=\"x\",le=\"60\"} 3\n"
        "urlweir_t_s_seconds_bucket{l=\"x\",le=\"+Inf\"} 4\n"
        "urlweir_t_s_seconds_sum{l=\"x\"} 70.000500000\n"
        "urlweir_t_s_seconds_count{l=\"x\"} 4\n");
}

/* ---- the parts ---- */

TEST(crawls_stand_side_by_side_in_each_family)
{
    struct crawls_view *v = calloc(2, sizeof *v);

    strcpy(v[0].name, "one");
    strcpy(v[1].name, "two");
    v[1].state = CRAWLS_STOPPED;
    v[0].stats.counts.queued = 7;
    v[1].stats.counts.queued = 8;
    v[0].stats.frontier.done[OUTCOME_FAILED][REASON_DNS] = 3;
    v[0].stats.frontier.done[OUTCOME_FAILED][REASON_HTTP] = 5;
    v[0].stats.frontier.done_http[OUTCOME_FAILED][4] = 5;
    v[0].stats.frontier.dropped[REASON_KIND] = 9;
    v[0].stats.fetches.classes[3] = 11;
    v[0].stats.frontier.filter = (struct seen_filter_stats){.used = true,
                                                            .promised = 0.002,
                                                            .asked = 1000,
                                                            .measured = 0.001,
                                                            .low = 0.0005,
                                                            .high = 0.006};
    metrics_add_crawls(&m, v, 2);
    has("urlweir_crawl_queued_urls{crawl=\"one\"} 7\n"
        "urlweir_crawl_queued_urls{crawl=\"two\"} 8\n# HELP");
    has("urlweir_crawl_state{crawl=\"one\",state=\"running\"} 1\n");
    has("urlweir_crawl_state{crawl=\"two\",state=\"running\"} 0\n");
    has("urlweir_crawl_state{crawl=\"two\",state=\"stopped\"} 1\n");
    has("urls_done_total{crawl=\"one\",status=\"failed\",reason=\"dns\"} 3\n");
    has("{crawl=\"one\",status=\"failed\",reason=\"http_4xx\"} 5\n");
    has("{crawl=\"one\",status=\"failed\",reason=\"http_5xx\"} 0\n");
    has("dropped_links_total{crawl=\"one\",reason=\"kind\"} 9\n");
    has("answers_total{crawl=\"one\",code=\"3xx\"} 11\n");
    has("false_positive_ratio{crawl=\"one\",rate=\"measured\"} 0.001\n");
    has("{crawl=\"one\",rate=\"measured_low\"} 0.0005\n");
    has("{crawl=\"one\",rate=\"measured_high\"} 0.006\n");
    ck_assert_ptr_null(strstr(buf_str(&out), "crawl=\"two\",rate="));
    ck_assert_ptr_null(strstr(buf_str(&out), "reason=\"http\""));
    free(v);
}

/* ---- the process ---- */

Suite *suite_metrics_text(void);
