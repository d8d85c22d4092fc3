/* SPDX-License-Identifier: MIT */
/* test_frontier_log.c - the lines of --verbose and --decisions. */
#include "base/logger.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/frontier/frontier_rig.h"

static struct capture captured;

static void begin(struct rig *r, enum log_level level)
{
    rig_init(r);
    r->o.tries = 3;
    r->o.keep_dropped = 1 << 20;
    r->o.schedule.max_delay = 600 * NS_PER_S;
    r->o.schedule.retry_delay = 2 * NS_PER_S;
    rig_create(r);
    rig_seed(r, "http://a.test/x");
    logger_set_level(level);
    capture_start(&captured, STDERR_FILENO);
}

static const char *lines(struct rig *r)
{
    logger_set_level(LOG_LEVEL_WARN);
    rig_fini(r);
    return capture_end(&captured);
}

static struct url_done done_of(struct rig *r, struct outcome o)
{
    return (struct url_done){
        .id = rig_lease(r),
        .outcome = o,
        .row = {.at_ms = RIG_WALL, .wire_bytes = 12595, .elapsed_ms = 45},
        .host = {.ended = r->now, .retry_after_ms = -1},
    };
}

static void ack(struct rig *r, struct url_done d)
{
    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
}

TEST(the_last_word_on_a_url_has_its_outcome_size_and_time)
{
    const struct {
        struct outcome o;
        const char *line;
    } all[] = {
        {{OUTCOME_FETCHED, REASON_NONE, 200},
         "fetched  200                   12.3 KiB    45ms  http://a.test/x\n"},
        {{OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH, 200},
         "fetched  200 truncated_length  12.3 KiB    45ms  http://a.test/x\n"},
        {{OUTCOME_FAILED, REASON_HTTP, 404},
         "failed   http_404              12.3 KiB    45ms  http://a.test/x\n"},
        {{OUTCOME_FAILED, REASON_DNS, 0},
         "failed   dns                   12.3 KiB    45ms  http://a.test/x\n"},
        {{OUTCOME_DENIED, REASON_ROBOTS, 0},
         "denied   robots                12.3 KiB    45ms  http://a.test/x\n"},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rig r;

        begin(&r, LOG_LEVEL_INFO);
        ack(&r, done_of(&r, all[i].o));
        ck_assert_str_eq(lines(&r), all[i].line);
    }
}

TEST(a_level_that_was_not_asked_for_says_nothing)
{
    struct url_drop drop = {.reason = REASON_SCOPE};
    struct url_done d;
    struct rig r;

    begin(&r, LOG_LEVEL_WARN);
    ack(&r, done_of(&r, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200}));
    ck_assert_str_eq(lines(&r), "");

    begin(&r, LOG_LEVEL_INFO); /* no decisions */
    d = done_of(&r, (struct outcome){OUTCOME_FAILED, REASON_HTTP, 503});
    d.transient = true;
    d.drops = &drop;
    d.drop_count = 1;
    d.host.slow_down = true;
    ack(&r, d);
    ck_assert_str_eq(lines(&r), "");
}

TEST(another_try_is_told_with_its_number_and_its_wait)
{
    struct url_done d;
    const char *text, *in;
    struct rig r;

    begin(&r, LOG_LEVEL_DEBUG);
    d = done_of(&r, (struct outcome){OUTCOME_FAILED, REASON_TIMEOUT, 0});
    d.transient = true;
    ack(&r, d);
    text = lines(&r);
    in = "retried  timeout              try 2 of 3 in ";
    ck_assert_int_eq(strncmp(text, in, strlen(in)), 0);
    /* 2 s with jitter, see schedule.h */
    ck_assert(text[strlen(in)] >= '1' && text[strlen(in)] <= '3');
    ck_assert_ptr_nonnull(strstr(text, "s  http://a.test/x\n"));
}

TEST(dropped_links_are_told_with_their_page)
{
    struct url_drop drops[2] = {{.reason = REASON_SCOPE,
                                 .url = bytes_of_str("http://b.test/")},
                                {.reason = REASON_DEPTH,
                                 .url = bytes_of_str("http://a.test/d")}};
    struct url_done d;
    uint64_t none;
    struct rig r;

    begin(&r, LOG_LEVEL_DEBUG);
    d = done_of(&r, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200});
    d.drops = drops;
    d.drop_count = 2;
    d.partial = true;
    ack(&r, d);
    ck_ok(external_discover(r.e, NULL, 0, drops, 1, r.now, RIG_WALL, &none));
    ck_assert_str_eq(
        lines(&r),
        "dropped  scope                http://b.test/  (on http://a.test/x)\n"
        "dropped  depth                http://a.test/d  (on http://a.test/x)\n"
        "dropped  scope                http://b.test/\n");
}

TEST(a_host_that_asks_for_a_pause_is_told_with_it)
{
    struct url_done d;
    struct rig r;

    begin(&r, LOG_LEVEL_DEBUG);
    d = done_of(&r, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200});
    d.host.retry_after_ms = 163000;
    d.host.slow_down = true;
    ack(&r, d);
    ck_assert_str_eq(
        lines(&r),
        "delayed  retry_after          2m43s  a.test\n"
        "fetched  200                   12.3 KiB    45ms  http://a.test/x\n");
}
