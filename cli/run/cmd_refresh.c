/* SPDX-License-Identifier: MIT */
/*
 * cmd_refresh.c - `urlweir refresh`: make done URLs of a crawl due again.
 *
 * A running crawl does it between its own work. If nobody runs the crawl, this
 * command opens it, and a resume then fetches the URLs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/control/steer.h"
#include "cli/run/crawl_run.h"
#include "cli/run/stopped_crawl.h"
#include "frontier/url/url_pattern.h"

#define HOST_MOST 4096

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "host", .type = OPTION_TEXT, STEER_AT(host),
     .section = "Which URLs", .arg = "HOST", .flags = OPTION_LINE_ONLY,
     .help = "only those of this host; default: all hosts"},
    {.name = "match", .type = OPTION_TEXT, STEER_AT(match),
     .section = "Which URLs", .arg = "REGEX", .flags = OPTION_LINE_ONLY,
     .help = "only URLs that match this (PCRE2, unanchored); default: all"},
    {.name = "now", .type = OPTION_FLAG, STEER_AT(now),
     .section = "When", .flags = OPTION_LINE_ONLY,
     .help = "at once; default: at once, but no URL sooner than the crawl's "
             "--refresh-min after its last fetch"},
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table table =
    OPTION_TABLE(specs, struct steer_settings);

const struct usage refresh_usage = {
    .name = "refresh",
    .synopsis = "refresh DIR|URL [--host HOST] [--match REGEX] [--now] "
                "[--crawl NAME]",
    .about = "Makes URLs that were fetched due again. Each is fetched once "
             "more; a crawl that has ended does so when it is resumed. What "
             "is due already, under way or waiting for another try stays as "
             "it is. A crawl with --refresh goes on with its dates after "
             "that.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a crawl's directory, or the URL of a service",
};

/* ---- what was done ---- */

static void print_dated(const struct steer *t, uint64_t dated)
{
    if (t->s.json)
        printf("{\"dated\":%" PRIu64 "}\n", dated);
    else
        printf("%" PRIu64 " URL%s made due again\n", dated,
               dated == 1 ? "" : "s");
}

/* ---- a crawl that nobody runs ---- */

static int refresh_stopped(struct steer *t, struct bytes host,
                           const struct url_pattern *match)
{
    const char *dir = t->operands.item[0];
    struct stopped_crawl *c = NULL;
    uint64_t dated = 0, left = 0;
    enum status st, closed;
    int code = EXIT_DONE;

    if (!stopped_crawl_open(&c, "refresh", dir, &code))
        return code;
    st = stopped_crawl_refresh(c, host, match, t->s.now, &dated);
    closed = stopped_crawl_close(c, &left);
    if (st == STATUS_OK)
        st = closed;
    if (st != STATUS_OK)
        return crawl_open_failed(st, dir);
    print_dated(t, dated);
    stopped_crawl_say_left("refresh", dir, "due", dated);
    return EXIT_DONE;
}

/* ---- one that runs ---- */

static json_t *body_of(const struct steer *t, struct bytes host)
{
    json_t *body = json_pack("{s:b}", "now", t->s.now);

    if (host.len > 0)
        json_object_set_new(body, "host", json_stringn(host.at, host.len));
    if (t->s.match != NULL)
        json_object_set_new(body, "match", json_string(t->s.match));
    return body;
}

static int refresh_running(struct steer *t, struct bytes host)
{
    json_t *body = NULL, *answer = NULL;
    int code = steer_connect(t);

    if (code == EXIT_DONE)
        code = steer_choose(t, false);
    if (code != EXIT_DONE)
        return code;
    body = body_of(t, host);
    code = steer_crawl_verb(t, "refresh", body, &answer);
    if (code == EXIT_DONE)
        print_dated(t, (uint64_t)json_integer_value(
                           json_object_get(answer, "dated")));
    json_decref(answer);
    json_decref(body);
    return code;
}

/* ---- the command ---- */

static int refresh_urls(struct steer *t)
{
    struct url_pattern *match = NULL;
    struct buf host, why;
    int code = EXIT_DONE;

    buf_init(&host, HOST_MOST);
    buf_init(&why, HOST_MOST);
    if (t->s.match != NULL &&
        url_pattern_new(&match, bytes_of_str(t->s.match), &why) != STATUS_OK)
        code = usage_error(t->usage, "--match: %s", buf_str(&why));
    else if (t->s.host != NULL)
        code = steer_host_key(t, t->s.host, &host);
    if (code == EXIT_DONE)
        code = control_place_is_stopped(t->operands.item[0])
                   ? refresh_stopped(t, buf_bytes(&host), match)
                   : refresh_running(t, buf_bytes(&host));
    url_pattern_free(match);
    buf_fini(&why);
    buf_fini(&host);
    return code;
}

int cmd_refresh(int argc, char **argv)
{
    return steer_command(&refresh_usage, argc, argv, refresh_urls);
}
