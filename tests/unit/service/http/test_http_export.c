/* SPDX-License-Identifier: MIT */
/* Long responses, from reports that the test provides. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>

#include "tests/unit/service/http/http_rig.h"

static struct http_rig rig;

/* The test's report: URL "N" writes N octets; "N!" then fails; "N?" then writes
 * nothing more, until nobody can read it any more. */
static _Atomic uint64_t written;
static atomic_int running, refused;
static atomic_bool hold;

static enum status write_octets(int fd, uint64_t n)
{
    char block[10000];

    memset(block, 'x', sizeof block);
    while (n > 0) {
        size_t some = n < sizeof block ? (size_t)n : sizeof block;
        ssize_t w = write(fd, block, some);

        if (w < 0) {
            ck_assert_int_eq(errno, EPIPE);
            atomic_fetch_add(&refused, 1);
            return STATUS_CLOSED;
        }
        n -= (uint64_t)w;
        atomic_fetch_add(&written, (uint64_t)w);
    }
    return STATUS_OK;
}

static enum status wait_for_nobody(int fd)
{
    struct pollfd p = {.fd = fd};

    ck_assert_int_eq(poll(&p, 1, -1), 1);
    ck_assert_int_eq(p.revents, POLLERR);
    return STATUS_CLOSED;
}

static enum status report(void *ctx, const char *dir,
                          const struct crawls_report *r, int fd)
{
    char *end = NULL;
    char text[64];
    uint64_t n;
    enum status st;

    (void)ctx;
    (void)dir;
    if (r->what == CRAWLS_EXPORT) {
        if (strcmp(r->rows, "urls") != 0)
            return STATUS_ARG;
        snprintf(text, sizeof text, "%s as %s", r->rows, r->format);
        return write(fd, text, strlen(text)) > 0 ? STATUS_OK : STATUS_IO;
    }
    atomic_fetch_add(&running, 1);
    while (atomic_load(&hold))
        usleep(1000);
    snprintf(text, sizeof text, "%.*s", (int)r->url.len, r->url.at);
    n = strtoull(text, &end, 10);
    st = write_octets(fd, n);
    if (*end == '?')
        st = wait_for_nobody(fd);
    atomic_fetch_sub(&running, 1);
    return st == STATUS_OK && *end == '!' ? STATUS_DAMAGED : st;
}

static void set_up(void)
{
    const struct crawl_factory factory = {.report = report};

    atomic_store(&written, 0);
    atomic_store(&refused, 0);
    atomic_store(&hold, false);
    http_rig_make(&rig, &factory);
}

static void tear_down(void)
{
    http_rig_fini(&rig);
}

static void waits_until(atomic_int *what, int is)
{
    int64_t until = clock_mono() + 60 * NS_PER_S;

    while (atomic_load(what) != is) {
        ck_assert_int_lt(clock_mono(), until);
        usleep(1000);
    }
}

#define EXPLAIN  "/v1/crawls/one/explain"
#define EXPORT   "/v1/crawls/one/export"
#define URL(url) "{\"url\":\"" url "\"}"

FIXTURE(set_up, tear_down);

TEST(a_report_of_any_length_comes_whole)
{
    static const size_t lengths[] = {0, 1, 16383, 16384, 16385, 65536, 9999999};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char body[100];
        struct http_reply a;

        snprintf(body, sizeof body, URL("%zu"), lengths[i]);
        a = http_rig_ask(&rig, NULL, EXPLAIN, body);
        ck_assert_int_eq(a.curl, CURLE_OK);
        ck_assert_int_eq(a.status, 200);
        ck_assert_uint_eq(a.text.len, lengths[i]);
        ck_assert_ptr_nonnull(
            strstr(buf_str(&a.head), "Content-Type: application/json"));
        http_reply_fini(&a);
    }
}

TEST(an_export_says_what_it_is)
{
    struct http_reply a =
        http_rig_ask(&rig, NULL, EXPORT, "{\"format\":\"csv\"}");

    ck_assert_str_eq(buf_str(&a.text), "urls as csv");
    ck_assert_ptr_nonnull(strstr(buf_str(&a.head), "Content-Type: text/csv"));
    http_reply_fini(&a);
    a = http_rig_ask(&rig, NULL, EXPORT, "{}");
    ck_assert_str_eq(buf_str(&a.text), "urls as jsonl");
    ck_assert_ptr_nonnull(
        strstr(buf_str(&a.head), "Content-Type: application/x-ndjson"));
    http_reply_fini(&a);
    http_rig_says(&rig, NULL, EXPORT, "{\"format\":\"xml\"}", 400,
                  "jsonl or csv");
    http_rig_says(&rig, NULL, EXPORT, "{\"what\":\"pies\"}", 400,
                  "'what' must be urls");
    http_rig_says(&rig, NULL, EXPORT, "{\"limit\":\"1\"}", 400,
                  "there is no 'limit'");
}

TEST(a_failure_before_the_first_octet_is_a_problem)
{
    http_rig_says(&rig, NULL, EXPLAIN, URL("0!"), 503, "damaged");
    http_rig_says(&rig, NULL, "/v1/crawls/two/explain", URL("1"), 404,
                  "no such crawl");
    http_rig_says(&rig, NULL, EXPLAIN, "{}", 400, "'url' is missing");
}

static long asked_from(const char *site, const char *path, const char *body)
{
    struct curl_slist *headers =
        curl_slist_append(NULL, "Content-Type: application/json");
    struct http_reply a;
    CURL *c = http_rig_request(&rig, &a, NULL, path, body);
    char line[64];

    snprintf(line, sizeof line, "Sec-Fetch-Site: %s", site);
    headers = curl_slist_append(headers, line);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    ck_assert_int_eq(curl_easy_perform(c), CURLE_OK);
    http_rig_answered(c);
    curl_slist_free_all(headers);
    http_reply_fini(&a);
    return a.status;
}

/* Promise (The service): reports over HTTP come whole at any length, in
 * constant memory, end with their client and with the service, even while they
 * write nothing, and report failures; a page of another site cannot start one.
 * See also `http_export`, `tests/cli/serve-reports.sh`. */
/* <img src="http://localhost:7072/v1/crawls/one/audit"> on any page, or a form
 * without a type of JSON. */
TEST(a_page_of_another_site_starts_none)
{
    struct http_reply a;
    CURL *c;

    http_rig_says(&rig, NULL, "/v1/crawls/one/audit", NULL, 405, "GET");
    http_rig_says(&rig, NULL, EXPLAIN "?url=1", NULL, 405, "GET");
    http_rig_says(&rig, NULL, EXPORT, NULL, 405, "GET");
    c = http_rig_request(&rig, &a, "POST", EXPLAIN, NULL);
    curl_easy_setopt(c, CURLOPT_COPYPOSTFIELDS, URL("1"));
    ck_assert_int_eq(curl_easy_perform(c), CURLE_OK);
    http_rig_answered(c);
    ck_assert_int_eq(a.status, 415);
    http_reply_fini(&a);
    ck_assert_int_eq(asked_from("cross-site", EXPLAIN, URL("1")), 403);
    ck_assert_int_eq(asked_from("same-site", EXPLAIN, URL("1")), 403);
    ck_assert_int_eq(asked_from("same-origin", EXPLAIN, URL("1")), 200);
    ck_assert_int_eq(asked_from("cross-site", "/v1/stats", NULL), 403);
    ck_assert_int_eq(asked_from("cross-site", "/metrics", NULL), 403);
    ck_assert_int_eq(asked_from("none", "/v1/stats", NULL), 200);
    ck_assert_int_eq(asked_from("cross-site", "/healthz", NULL), 200);
    ck_assert_int_eq(asked_from("cross-site", "/", NULL), 200); /* a link */
    ck_assert_int_eq(atomic_load(&running), 0);
}

TEST(a_failure_later_cuts_the_answer_off)
{
    struct http_reply a = http_rig_ask(&rig, NULL, EXPLAIN, URL("100000!"));

    ck_assert_int_eq(a.status, 200);
    ck_assert_int_ne(a.curl, CURLE_OK); /* no last chunk */
    http_reply_fini(&a);
}

TEST(one_that_is_not_read_waits_in_a_pipe_and_ends_with_its_client)
{
    int fd = http_rig_dial(&rig);
    const struct linger hard = {.l_onoff = 1};
    const int small = 4096;
    uint64_t before = 0;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    http_rig_post(fd, EXPLAIN, URL("9999999999"));
    waits_until(&running, 1);
    do {
        before = atomic_load(&written);
        usleep(300000); /* too short only makes the check below weaker */
    } while (atomic_load(&written) != before); /* until it stops growing */
    ck_assert_uint_lt(before, 256 << 20);      /* most of it in the kernel */
    http_rig_says(&rig, NULL, "/healthz", NULL, 200, "ok");
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
    waits_until(&running, 0);
    ck_assert_int_eq(atomic_load(&refused), 1);
}

/* Some are read, some are not, some have not written anything yet. */
TEST(a_stop_ends_those_that_run)
{
    int fd[3];

    for (int i = 0; i < 2; i++) {
        fd[i] = http_rig_dial(&rig);
        http_rig_post(fd[i], EXPLAIN, URL("9999999999"));
    }
    waits_until(&running, 2);
    while (atomic_load(&written) < 1 << 20) /* more than a pipe holds */
        usleep(1000);
    atomic_store(&hold, true);
    fd[2] = http_rig_dial(&rig);
    http_rig_post(fd[2], EXPLAIN, URL("10"));
    waits_until(&running, 3);
    http_server_stop(rig.server);
    atomic_store(&hold, false);
    http_server_close(rig.server);
    rig.server = NULL;
    ck_assert_int_eq(atomic_load(&running), 0);
    for (int i = 0; i < 3; i++)
        close(fd[i]);
}
