/* SPDX-License-Identifier: MIT */
/*
 * cmd_refresh.c - `urlweir refresh`: make done URLs of a crawl due again.
 */
#include "cli/command.h"
#include "cli/control/steer.h"
#include "cli/run/redo.h"
#include "frontier/url/url_pattern.h"

#define REASON_MOST 4096

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "host", .type = OPTION_TEXT, STEER_AT(host),
     .section = "Which URLs", .arg = "HOST",
     .help = "only those of this host; default: all hosts"},
    {.name = "match", .type = OPTION_TEXT, STEER_AT(match),
     .section = "Which URLs", .arg = "REGEX",
     .help = "only URLs that match this (PCRE2, unanchored); default: all"},
    {.name = "now", .type = OPTION_FLAG, STEER_AT(now),
     .section = "When",
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

static int read_match(struct steer *t, void *match)
{
    struct buf why;
    int code = EXIT_DONE;

    buf_init(&why, REASON_MOST);
    if (t->s.match != NULL &&
        url_pattern_new(match, bytes_of_str(t->s.match), &why) != STATUS_OK)
        code = usage_error(t->usage, "--match: %s", buf_str(&why));
    buf_fini(&why);
    return code;
}

static enum status refresh_stopped(struct stopped_crawl *c,
                                   const struct steer *t, struct bytes host,
                                   void *match, uint64_t *dated)
{
    struct url_pattern **m = match;

    return stopped_crawl_refresh(c, host, *m, t->s.now, dated);
}

static void ask_refresh(const struct steer *t, json_t *body)
{
    json_object_set_new(body, "now", json_boolean(t->s.now));
    if (t->s.match != NULL)
        json_object_set_new(body, "match", json_string(t->s.match));
}

static const struct redo redo = {.verb = "refresh",
                                 .count = "dated",
                                 .done = "made due again",
                                 .left = "due",
                                 .left_is_count = true,
                                 .read = read_match,
                                 .stopped = refresh_stopped,
                                 .ask = ask_refresh};

static int refresh_urls(struct steer *t)
{
    struct url_pattern *match = NULL;
    int code = redo_urls(t, &redo, &match);

    url_pattern_free(match);
    return code;
}

int cmd_refresh(int argc, char **argv)
{
    return steer_command(&refresh_usage, argc, argv, refresh_urls);
}
