/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "cli/report/progress.h"
#include "crawler/crawl_stats.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/unit.h"

static const struct crawl_stats sample = {
    .counts = {.pages = 12345,
               .fetched = 12400,
               .queued = 45210,
               .queues_active = 312,
               .failed = 12,
               .links = 1000,
               .duplicates = 810,
               .bytes = 123456789},
    .active = 64,
};
static const struct progress_rates rates = {192000, 98.2, 1258291, 187000};
static const struct progress_limits no_limits;
static struct buf b;
static struct capture captured;

static void setup(void)
{
    buf_init(&b, 100000);
}

static void teardown(void)
{
    buf_fini(&b);
}

FIXTURE(setup, teardown);

TEST(a_wide_bar_tells_all)
{
    progress_bar(&b, &sample, &rates, 200, false);
    ck_assert_str_eq(buf_str(&b),
                     "12,345 pages  98/s  45,210 queued  312 hosts  12 failed"
                     "  81% seen before  1.2 MiB/s  3m12s  ends in 3m07s");
}

TEST(a_narrow_bar_leaves_out_what_matters_least)
{
    static const struct {
        size_t width;
        const char *text;
    } bars[] = {
        {79, "12,345 pages  98/s  45,210 queued  312 hosts  12 failed  ends "
             "in 3m07s"},
        {60, "12,345 pages  98/s  45,210 queued  12 failed  ends in 3m07s"},
        {34, "12,345 pages  98/s  45,210 queued"},
        {20, "12,345 pages  98/s"},
        {6, "12,345"},
        {0, ""},
    };

    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        progress_bar(&b, &sample, &rates, bars[i].width, false);
        ck_assert_str_eq(buf_str(&b), bars[i].text);
        buf_clear(&b);
    }
}

TEST(rates_follow_the_last_ten_seconds)
{
    struct frontier_counts before = {.pages = 1000}, after = before;
    struct progress_rates r = {0};

    after.pages += 50; /* pages of earlier runs do not count as speed */
    progress_rates(&r, &no_limits, &before, &after, 1000);
    ck_assert_double_eq_tol(r.pages, 50, 1e-9);
    ck_assert_int_eq(r.eta_ms, -1);
    for (int i = 0; i < 600; i++) { /* two minutes at 10 a second */
        before = after;
        after.pages += 2;
        progress_rates(&r, &no_limits, &before, &after, 200);
    }
    ck_assert_double_eq_tol(r.pages, 10, 0.01);
    for (int i = 0; i < 600; i++) { /* 20 a second more, fetched again */
        before = after;
        after.pages += 2;
        after.refreshed += 4;
        progress_rates(&r, &no_limits, &before, &after, 200);
    }
    ck_assert_double_eq_tol(r.pages, 30, 0.01);
    ck_assert_double_eq_tol(r.counted, 10, 0.01);
    for (int i = 0; i < 600; i++) { /* one that fails is no page any more */
        before = after;
        after.pages--;
        after.refreshed += 3;
        progress_rates(&r, &no_limits, &before, &after, 200);
    }
    ck_assert_double_eq_tol(r.pages, 10, 0.01);
    progress_rates(&r, &no_limits, &after, &after, 0); /* no time has passed */
    ck_assert_double_eq_tol(r.pages, 10, 0.01);
}

TEST(the_end_is_where_the_first_limit_is_met)
{
    struct frontier_counts s = {.pages = 100, .bytes = 1000};
    struct progress_rates r = {.elapsed_ms = 5000,
                               .pages = 50, /* some of them once more */
                               .bytes = 100,
                               .counted = 10};
    struct progress_limits l = {0};

    l.pages = 300;
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_int_eq(r.eta_ms, 20000);
    l.time_ms = 20000;
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_int_eq(r.eta_ms, 15000);
    l.bytes = 1500;
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_int_eq(r.eta_ms, 5000);
    l.pages = 50; /* already past it */
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_int_eq(r.eta_ms, 0);
    l.pages = l.bytes = 0;
    l.time_ms = 0;
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_int_eq(r.eta_ms, -1);
}

TEST(a_line_is_key_and_value)
{
    progress_line(&b, &sample, &rates);
    ck_assert_str_eq(
        buf_str(&b),
        "urlweir: progress: elapsed=3m12s pages=12345 "
        "pages_per_second=98.2 queued=45210 hosts_active=312 failed=12 "
        "duplicates=81.0% bytes=123456789 eta=3m07s\n");
}

static const struct crawl_standstill standstills[] = {
    {"127.0.0.3", "back_off", 503, 163 * NS_PER_S},
    {"127.0.0.3", "back_off", 0, 163 * NS_PER_S},
    {"a.example", "retry_after", 429, 90 * NS_PER_S},
    {"a.example", "operator", 200, 7200 * NS_PER_S},
    {"a.example", "", 200, 8 * NS_PER_S},
    {"a\x1b[m", "connect", 0, 60 * NS_PER_S},
    {"a.example", "", 500, 12 * NS_PER_S},
};

/* Promise (Commands and options): progress and status say what a crawl waits
 * for, and no end that cannot be known; colours appear on capable terminals
 * only. See also `progress/an_end_that_nobody_knows_is_not_told`,
 * `progress/colours_take_no_columns`, `tests/cli/watching.sh`. */
TEST(what_a_crawl_waits_for_is_said_in_place_of_a_guess)
{
    static const char *const texts[] = {
        "127.0.0.3 backs off 2m43s after 503",
        "127.0.0.3 backs off 2m43s",
        "a.example waits 1m30s, as it asked for (Retry-After)",
        "a.example is blocked for 2h00m",
        "a.example is asked again in 8.0s",
        "a\\x1b[m does not respond (connect); next try in 1m00s",
        "a.example backs off 12.0s after 500",
    };
    struct crawl_stats s = sample;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_clear(&b);
        progress_wait(&b, &standstills[i]);
        ck_assert_str_eq(buf_str(&b), texts[i]);
    }
    s.standstill = standstills[0];
    buf_clear(&b);
    progress_bar(&b, &s, &rates, 80, false);
    ck_assert_str_eq(buf_str(&b),
                     "12,345 pages  127.0.0.3 backs off 2m43s after 503  "
                     "45,210 queued  12 failed");
    buf_clear(&b);
    progress_line(&b, &s, &rates);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&b),
               " waiting=\"127.0.0.3 backs off 2m43s after 503\"\n"));
    buf_clear(&b);
    progress_json(&b, &s, &rates, false);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&b), "\"waiting\":{\"host\":\"127.0.0.3\",\"why\":"
                            "\"back_off\",\"seconds\":163.000},\"eta\":null"));
}

TEST(an_end_that_nobody_knows_is_not_told)
{
    struct frontier_counts s = {.pages = 1, .urls = 10, .queued = 4};
    struct progress_rates r = {.elapsed_ms = 60000, .counted = 0.001};
    struct progress_limits l = {.pages = 1000000};

    progress_rates(&r, &l, &s, &s, 0); /* thirty years */
    ck_assert_int_eq(r.eta_ms, -1);
    r.counted = 1;
    l.pages = 1001;
    r.elapsed_ms = 1000; /* too early for a rate */
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_int_eq(r.eta_ms, -1);
    r.elapsed_ms = 6000;
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_int_eq(r.eta_ms, 1000000);
    ck_assert_double_eq_tol(r.done, 1.0 / 1001, 1e-9);
    l.pages = 0;
    progress_rates(&r, &l, &s, &s, 0);
    ck_assert_double_eq_tol(r.done, 0.6, 1e-9);
}

TEST(colours_take_no_columns)
{
    struct progress_rates r = rates;

    r.done = 0.25;
    progress_bar(&b, &sample, &r, 200, false);
    ck_assert_str_eq(buf_str(&b),
                     "12,345 pages  98/s  45,210 queued  312 hosts  12 failed"
                     "  81% seen before  1.2 MiB/s  3m12s  ends in 3m07s"
                     "  [####------------] 25%");
    for (size_t width = 12; width < 140; width++) {
        struct buf bare;
        size_t columns = 0;

        buf_init(&bare, 10000);
        progress_bar(&bare, &sample, &r, width, false);
        buf_clear(&b);
        progress_bar(&b, &sample, &r, width, true);
        for (const char *p = buf_str(&b); *p != '\0'; p++) {
            if (*p == '\x1b')
                p = strchr(p, 'm');
            else
                columns++;
        }
        ck_assert_uint_eq(columns, bare.len);
        ck_assert_uint_le(columns, width);
        buf_fini(&bare);
    }
    ck_assert_ptr_nonnull(strstr(buf_str(&b), "\x1b[31m12 failed\x1b[0m"));
}

TEST(json_has_each_counter_and_the_rates)
{
    static const char *const more[] = {
        "elapsed", "pages_per_second", "bytes_per_second",
        "eta",     "waiting",          "paused",
        "last"};
    struct progress_rates unknown = rates;
    json_t *j;

    progress_json(&b, &sample, &rates, false);
    ck_assert_ptr_eq(strchr(buf_str(&b), '\n'), buf_str(&b) + b.len - 1);
    j = json_loads(buf_str(&b), 0, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert_uint_eq(json_object_size(j), CRAWL_COUNTERS + 7);
    for (size_t i = 0; i < 7; i++)
        ck_assert_msg(json_object_get(j, more[i]) != NULL, "%s", more[i]);
    for (size_t i = 0; i < CRAWL_COUNTERS; i++) {
        const char *name = crawl_counters[i].name;

        ck_assert_msg(json_is_integer(json_object_get(j, name)), "%s", name);
    }
    ck_assert_int_eq(json_integer_value(json_object_get(j, "failed")), 12);
    ck_assert_int_eq(json_integer_value(json_object_get(j, "transfers")), 64);
    ck_assert_double_eq(json_real_value(json_object_get(j, "elapsed")), 192);
    ck_assert_double_eq(json_real_value(json_object_get(j, "eta")), 187);
    json_decref(j);
    buf_clear(&b);
    unknown.eta_ms = -1;
    progress_json(&b, &sample, &unknown, true);
    j = json_loads(buf_str(&b), 0, NULL);
    ck_assert(json_is_null(json_object_get(j, "eta")));
    ck_assert(json_is_true(json_object_get(j, "last")));
    json_decref(j);
}

/* ---- on a stream ---- */

#define S(n) ((int64_t)(n)*NS_PER_S)

TEST(lines_come_every_ten_seconds_then_every_minute)
{
    static const struct frontier_counts first;
    struct progress *p;
    int lines[3] = {0}; /* minutes 0 to 1, 1 to 10, 10 to 20 */
    const char *said;

    capture_start(&captured, STDERR_FILENO);
    p = progress_new(PROGRESS_AUTO, &no_limits, &first, S(5));
    for (int t = 0; t <= 1200; t++)
        if (progress_due(p, S(5 + t))) {
            lines[t <= 60 ? 0 : t <= 600 ? 1 : 2]++;
            progress_update(p, &sample, S(5 + t));
        }
    progress_free(p, &sample, S(2000));
    said = capture_end(&captured);
    ck_assert_int_eq(lines[0], 6);
    ck_assert_int_ge(lines[1], 12);
    ck_assert_int_le(lines[1], 24);
    ck_assert_int_eq(lines[2], 10);
    ck_assert_int_eq(strncmp(said, "urlweir: progress: ", 19), 0);
}

TEST(a_log_line_passes_above_the_bar)
{
    struct progress *p;
    const char *bar = "12,345 pages";
    const char *at;

    unsetenv("COLUMNS");
    capture_start(&captured, STDERR_FILENO);
    p = progress_new(PROGRESS_BAR, &no_limits, &sample.counts, 0);
    progress_update(p, &sample, 0);
    progress_update(p, &sample, S(1) / 10); /* too soon: nothing */
    log_warn("tick", "n=%d", 1);
    progress_free(p, &sample, S(1));
    log_warn("tock", "n=%d", 2);
    at = capture_end(&captured);
    ck_assert_int_eq(strncmp(at, "\r\x1b[K", 4), 0);
    at += 4;
    ck_assert_int_eq(strncmp(at, bar, strlen(bar)), 0);
    at = strchr(at, '\r');
    ck_assert_int_eq(strncmp(at,
                             "\r\x1b[Kurlweir: warning: tick n=1\n"
                             "\r\x1b[K12,345 pages",
                             45),
                     0);
    at = strchr(strchr(at, '\n') + 4, '\r');
    /* removed at the end, and not drawn again */
    ck_assert_str_eq(at, "\r\x1b[Kurlweir: warning: tock n=2\n");
}

static atomic_bool over;

static void *log_much(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3000; i++)
        log_warn("tick", "n=%d", i);
    atomic_store(&over, true);
    return NULL;
}

/* Each log line starts at the beginning of a line: at the start, after another
 * one, or where the bar was just removed. */
TEST(a_log_line_never_lands_in_the_bar)
{
    struct crawl_stats s = sample;
    struct progress *p;
    pthread_t thread;
    const char *at;

    capture_start(&captured, STDERR_FILENO);
    ck_assert_int_eq(pthread_create(&thread, NULL, log_much, NULL), 0);
    p = progress_new(PROGRESS_BAR, &no_limits, &s.counts, 0);
    for (int i = 0; !atomic_load(&over); i++) {
        s.counts.pages++;
        progress_update(p, &s, S(i));
    }
    pthread_join(thread, NULL);
    progress_free(p, &s, S(1));
    capture_end(&captured);
    for (at = captured.text; (at = strstr(at, "urlweir: ")) != NULL; at++)
        ck_assert(
            at == captured.text || at[-1] == '\n' ||
            (at - 4 >= captured.text && strncmp(at - 4, "\r\x1b[K", 4) == 0));
}

/* Reads up to `end`, which may arrive in pieces. */
static void read_until(int fd, char end, char *text, size_t size)
{
    size_t len = 0;
    ssize_t n;

    do {
        n = read(fd, text + len, size - 1 - len);
        ck_assert_int_gt(n, 0);
        len += (size_t)n;
    } while (text[len - 1] != end);
    text[len - 1] = '\0';
}

/* Makes a pseudo-terminal of `columns` the stderr and reads what is drawn.
 * False if none can be had: a chroot without /dev/pts. */
static bool on_terminal(unsigned short columns, const char *term,
                        enum progress_choice choice, char *drawn, size_t size)
{
    struct winsize w = {.ws_col = columns, .ws_row = 24};
    int master = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDERR_FILENO);
    struct progress *p;
    int slave;

    if (master < 0) {
        close(saved);
        fprintf(stderr, "terminal: skipped, no /dev/ptmx or /dev/pts here\n");
        return false;
    }
    ck_assert_int_eq(grantpt(master), 0);
    ck_assert_int_eq(unlockpt(master), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(slave, 0);
    ioctl(slave, TIOCSWINSZ, &w);
    setenv("TERM", term, 1);
    dup2(slave, STDERR_FILENO);
    p = progress_new(choice, &no_limits, &sample.counts, 0);
    progress_update(p, &sample, S(10));
    dup2(saved, STDERR_FILENO);
    ck_assert_int_eq(write(slave, "$", 1), 1);
    read_until(master, '$', drawn, size);
    free(p);
    close(slave);
    close(master);
    close(saved);
    return true;
}

TEST(auto_is_a_bar_as_wide_as_the_terminal)
{
    char drawn[1000];

    if (!on_terminal(40, "xterm", PROGRESS_AUTO, drawn, sizeof drawn))
        return;
    ck_assert_str_eq(drawn, "\r\x1b[K12,345 pages  0/s  45,210 queued");
}
