/* SPDX-License-Identifier: MIT */
/*
 * cmd_queue.c - `urlweir block`, `delay` and `limit`: settings of one host.
 *
 * A crawl of ours queues by host, so a host may be written as people write it,
 * or as a URL. Clients choose the keys of a frontier that is only served, so
 * these go unchanged.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/steer/steer.h"
#include "config/quantity.h"

#define HOST_MOST 4096

/* clang-format off */
static const struct option_spec block_specs[] = {
    {.name = "for", .type = OPTION_TIME, STEER_AT(for_ms), .fallback = "none",
     .min = 1, .max = 36500 * 86400e3, .bare = "none", .section = "How long",
     .arg = "TIME",
     .help = "for this long from now"},
    {.name = "until", .type = OPTION_TEXT, STEER_AT(until),
     .section = "How long", .arg = "MOMENT",
     .help = "until this moment, such as 2026-12-24T18:00:00Z or "
             "2026-12-24T19:00:00+01:00"},
    {.name = "off", .type = OPTION_FLAG, STEER_AT(off),
     .section = "How long",
     .help = "no longer"},
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
static const struct option_spec plain_specs[] = {
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table block_table =
    OPTION_TABLE(block_specs, struct steer_settings);
static const struct option_table plain_table =
    OPTION_TABLE(plain_specs, struct steer_settings);

/* ---- the host ---- */

static int take_host(struct steer *t, const char *text, struct buf *key)
{
    if (steer_is_own(t->crawl))
        return steer_host_key(t, text, key);
    buf_add_str(key, text);
    return EXIT_DONE;
}

/* ---- asking ---- */

/* "crawl: example.org is WHAT" */
static void print_result(const struct steer *t, const struct buf *key,
                         const char *what)
{
    struct buf line;

    buf_init(&line, 65536);
    steer_add_label(t, t->crawl, &line);
    buf_add_str(&line, ": ");
    format_terminal(&line, buf_bytes(key));
    buf_addf(&line, " is %s", what);
    puts(buf_str(&line));
    buf_fini(&line);
}

/* Fails if the crawl has no URL of the host: it then has no queue to change. */
static int check_known(struct steer *t, json_t *in, const struct buf *key)
{
    json_t *answer = NULL;
    int code = steer_ask(t, STEER_COUNT, in, &answer);

    if (code == EXIT_DONE &&
        json_integer_value(json_object_get(answer, "queues")) == 0) {
        steer_add_label(t, t->crawl, &t->why);
        buf_add_str(&t->why, " has no URL of ");
        format_terminal(&t->why, buf_bytes(key));
        buf_add_str(&t->why, " yet, so there is nothing to change");
        code = steer_failed(t, STATUS_NOT_FOUND);
    }
    json_decref(answer);
    return code;
}

/* Sends {"crawl", "key", NAME: VALUE} and prints the result, `what` for
 * people. */
static int send_value(struct steer *t, enum steer_verb verb, const char *name,
                      json_t *value, const struct buf *key, const char *what)
{
    json_t *in = json_pack("{s:O, s:s#}", "crawl",
                           json_object_get(t->crawl, "name"), "key",
                           buf_str(key), (int)key->len),
           *answer = NULL;
    int code;

    if (in == NULL)
        return usage_error(t->usage, "'%s' is not UTF-8", t->operands->item[1]);
    code = check_known(t, in, key);
    json_object_set(in, name, value);
    if (code == EXIT_DONE)
        code = steer_ask(t, verb, in, &answer);
    if (code == EXIT_DONE && t->s->json)
        steer_print(json_incref(in));
    else if (code == EXIT_DONE)
        print_result(t, key, what);
    json_decref(answer);
    json_decref(in);
    return code;
}

/* Takes ownership of `value`. */
static int set_queue(struct steer *t, enum steer_verb verb, const char *name,
                     json_t *value, const char *what)
{
    struct buf key;
    int code = steer_connect_or_hold(t);

    buf_init(&key, HOST_MOST);
    if (code == EXIT_DONE)
        code = steer_choose(t, true);
    if (code == EXIT_DONE)
        code = take_host(t, t->operands->item[1], &key);
    if (code == EXIT_DONE)
        code = send_value(t, verb, name, value, &key, what);
    buf_fini(&key);
    json_decref(value);
    return steer_let_go(t, NULL, NULL, code);
}

/* ---- block ---- */

/* Sets *until to seconds since 1970, rounded up so that a block is never
 * shorter than asked for; 0 with --off. */
static int read_until(const struct steer *t, uint64_t *until)
{
    const struct steer_settings *s = t->s;
    int64_t at = 0;

    *until = 0;
    if ((s->until != NULL) + (s->for_ms > 0) + s->off != 1)
        return usage_error(t->usage, "how long? Give one of --for TIME, "
                                     "--until MOMENT and --off");
    if (s->for_ms > 0)
        *until = (uint64_t)(clock_wall_ms() + s->for_ms + 999) / 1000;
    else if (s->until != NULL &&
             clock_parse_iso(bytes_of_str(s->until), &at) != STATUS_OK)
        return usage_error(t->usage,
                           "--until '%s' is not a moment, such as "
                           "2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00",
                           s->until);
    if (at > 0)
        *until = (uint64_t)(at + 999) / 1000;
    if (!s->off && (int64_t)*until * 1000 <= clock_wall_ms())
        return usage_error(t->usage, "--until '%s' is past; --off ends a block",
                           s->until);
    return EXIT_DONE;
}

static int block(struct steer *t)
{
    char iso[CLOCK_ISO_SIZE], what[64];
    uint64_t until = 0;
    int code = read_until(t, &until);

    if (code != EXIT_DONE)
        return code;
    clock_iso(iso, (int64_t)until * 1000);
    snprintf(what, sizeof what,
             until != 0 ? "blocked until %.19sZ" : "blocked no longer", iso);
    return set_queue(t, STEER_BLOCK, "until",
                     until != 0 ? json_sprintf("%.19sZ", iso) : json_null(),
                     what);
}

/* ---- delay ---- */

static int delay(struct steer *t)
{
    const char *text = t->operands->item[2];
    bool standard = strcmp(text, "default") == 0;
    char what[80];
    int64_t ms = 0;

    if (!standard && quantity_time(bytes_of_str(text), &ms) != STATUS_OK)
        return usage_error(t->usage,
                           "'%s' is neither a time, such as 5 or 1.5s, nor "
                           "`default`",
                           text);
    snprintf(what, sizeof what, "asked at most every %g s",
             (double)ms / 1000.0);
    if (standard)
        snprintf(what, sizeof what, "asked with the same delay as other hosts");
    return set_queue(t, STEER_DELAY, "delay_seconds",
                     standard         ? json_null()
                     : ms % 1000 == 0 ? json_integer(ms / 1000)
                                      : json_real((double)ms / 1000.0),
                     what);
}

/* ---- limit ---- */

static int limit(struct steer *t)
{
    const char *text = t->operands->item[2];
    bool none = strcmp(text, "none") == 0;
    char what[80];
    int64_t n = 0;

    if (!none && (quantity_count(bytes_of_str(text), &n) != STATUS_OK ||
                  n < 1 || n > UINT32_MAX))
        return usage_error(t->usage,
                           "'%s' is neither a number of URLs (1 or more) nor "
                           "`none`",
                           text);
    snprintf(what, sizeof what, "limited to %" PRId64 " URL%s", n,
             n == 1 ? "" : "s");
    if (none)
        snprintf(what, sizeof what, "limited no longer");
    return set_queue(t, STEER_LIMIT, "limit", json_integer(n), what);
}

static int block_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    return steer_run(u, settings, operands, block);
}

const struct usage block_usage = {
    .name = "block",
    .synopsis = "block DIR|URL|kafka://HOST/NAME HOST (--for TIME | --until "
                "MOMENT | --off) "
                "[--crawl NAME]",
    .about = "Holds a host back: no more requests are sent to it until then. "
             "This is kept over restarts and works on a stopped crawl too. "
             "With --off, a host that was given up because it did not respond "
             "is asked again.",
    .table = &block_table,
    .least = 2,
    .most = 2,
    .operand = "a crawl's directory or the URL of a service, and a host",
    .run = block_run,
};

static int delay_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    return steer_run(u, settings, operands, delay);
}

const struct usage delay_usage = {
    .name = "delay",
    .synopsis = "delay DIR|URL|kafka://HOST/NAME HOST TIME|default "
                "[--crawl NAME]",
    .about = "Sets how long a crawl or service waits between two requests to a "
             "host; `default`: as long as for other hosts. This is kept over "
             "restarts and works on a stopped crawl too.",
    .table = &plain_table,
    .least = 3,
    .most = 3,
    .operand = "a crawl's directory or the URL of a service, a host, a time",
    .run = delay_run,
};

static int limit_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    return steer_run(u, settings, operands, limit);
}

const struct usage limit_usage = {
    .name = "limit",
    .synopsis = "limit DIR|URL|kafka://HOST/NAME HOST N|none "
                "[--crawl NAME]",
    .about =
        "Limits how many URLs of a host a crawl or service finishes; those "
        "already finished count. The others wait until the limit is "
        "raised or lifted. This is kept over restarts and works on a "
        "stopped crawl too.",
    .table = &plain_table,
    .least = 3,
    .most = 3,
    .operand = "a crawl's directory or the URL of a service, a host, a number",
    .run = limit_run,
};
