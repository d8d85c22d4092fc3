/* SPDX-License-Identifier: MIT */
/*
 * cmd_block.c - `urlweir block`, `delay` and `limit`: settings of one host.
 *
 * A crawl of ours queues by host, so a host may be written as people write it,
 * or as a URL. Clients choose the keys of a frontier that is only served, so
 * these go unchanged. `block` also works on a crawl that nobody runs: the block
 * is in force when a resume starts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/control/steer.h"
#include "cli/run/crawl_run.h"
#include "cli/run/stopped_crawl.h"
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
};
const struct usage delay_usage = {
    .name = "delay",
    .synopsis = "delay DIR|URL|kafka://HOST/NAME HOST TIME|default "
                "[--crawl NAME]",
    .about = "Sets how long a running crawl or service waits between two "
             "requests to a host; `default`: as long as for other hosts. This "
             "is kept over restarts.",
    .table = &plain_table,
    .least = 3,
    .most = 3,
    .operand = "a crawl's directory or the URL of a service, a host, a time",
};
const struct usage limit_usage = {
    .name = "limit",
    .synopsis = "limit DIR|URL|kafka://HOST/NAME HOST N|none "
                "[--crawl NAME]",
    .about = "Limits how many URLs of a host a running crawl or service "
             "finishes; those already finished count. The others wait until "
             "the limit is raised or lifted. This is kept over restarts.",
    .table = &plain_table,
    .least = 3,
    .most = 3,
    .operand = "a crawl's directory or the URL of a service, a host, a number",
};

/* ---- the host ---- */

static int take_host(struct steer *t, const char *text, struct buf *key)
{
    if (t->crawl == NULL || steer_is_own(t->crawl))
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
    if (t->crawl != NULL)
        steer_add_label(t, t->crawl, &line);
    else
        format_terminal(&line, bytes_of_str(t->operands.item[0]));
    buf_add_str(&line, ": ");
    format_terminal(&line, buf_bytes(key));
    buf_addf(&line, " is %s", what);
    puts(buf_str(&line));
    buf_fini(&line);
}

/* Posts {"crawl", "key", NAME: VALUE} and prints the result, `what` for people.
 * Takes ownership of `value`. */
static int set_queue(struct steer *t, const char *path, const char *name,
                     json_t *value, struct buf *key, const char *what)
{
    json_t *body = json_object(), *answer = NULL;
    int code;

    json_object_set(body, "crawl", json_object_get(t->crawl, "name"));
    json_object_set_new(body, "key", json_stringn(buf_str(key), key->len));
    json_object_set_new(body, name, value);
    code = steer_ask(t, "POST", path, body, &answer);
    json_decref(answer);
    if (code == EXIT_DONE && t->s.json)
        steer_print(json_incref(body));
    else if (code == EXIT_DONE)
        print_result(t, key, what);
    json_decref(body);
    return code;
}

/* Fails if the crawl has no URL of the host: it then has no queue to change. */
static int check_known(struct steer *t, struct buf *key)
{
    json_t *answer = NULL;
    struct buf path;
    int code;

    buf_init(&path, 8 * HOST_MOST);
    buf_add_str(&path, "/v1/stats?crawl=");
    control_add_encoded(&path, bytes_of_str(steer_crawl_name(t->crawl)));
    buf_add_str(&path, "&key=");
    control_add_encoded(&path, buf_bytes(key));
    code = steer_ask(t, "GET", buf_str(&path), NULL, &answer);
    if (code == EXIT_DONE &&
        json_integer_value(json_object_get(answer, "queues")) == 0) {
        steer_add_label(t, t->crawl, &t->why);
        buf_add_str(&t->why, " has no URL of ");
        format_terminal(&t->why, buf_bytes(key));
        buf_add_str(&t->why, " yet, so there is nothing to change");
        code = steer_failed(t, STATUS_NOT_FOUND);
    }
    json_decref(answer);
    buf_fini(&path);
    return code;
}

/* Reads the command line, then calls `act`, which stores the host in `key`. */
static int command(const struct usage *u, int argc, char **argv,
                   int (*act)(struct steer *t, struct buf *key))
{
    struct steer t;
    struct buf key;
    int code = EXIT_DONE;

    if (!steer_begin(&t, u, argc, argv, &code))
        return code;
    buf_init(&key, HOST_MOST);
    code = act(&t, &key);
    buf_fini(&key);
    steer_end(&t);
    return code;
}

static int find_queue(struct steer *t, struct buf *key)
{
    int code = steer_connect(t);

    if (code == EXIT_DONE)
        code = steer_choose(t, true);
    if (code == EXIT_DONE)
        code = take_host(t, t->operands.item[1], key);
    return code == EXIT_DONE ? check_known(t, key) : code;
}

/* ---- block ---- */

/* Sets *until to seconds since 1970, rounded up so that a block is never
 * shorter than asked for; 0 with --off. */
static int read_until(const struct steer *t, uint64_t *until)
{
    const struct steer_settings *s = &t->s;
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

/* Blocks or unblocks a host in a crawl that nobody runs, and prints "DIR: HOST
 * is WHAT". */
static int block_stopped(struct steer *t, struct buf *key, uint64_t until,
                         const char *what)
{
    const char *dir = t->operands.item[0];
    struct stopped_crawl *c = NULL;
    uint64_t left;
    enum status st, closed;
    int code = take_host(t, t->operands.item[1], key);

    if (code != EXIT_DONE || !stopped_crawl_open(&c, "block", dir, &code))
        return code;
    st = stopped_crawl_block(c, buf_bytes(key), (int64_t)until * 1000);
    closed = stopped_crawl_close(c, &left);
    if (st == STATUS_NOT_FOUND) {
        format_terminal(&t->why, bytes_of_str(dir));
        buf_add_str(&t->why, " has no URL of ");
        format_terminal(&t->why, buf_bytes(key));
        return steer_failed(t, st);
    }
    if (st != STATUS_OK || closed != STATUS_OK)
        return crawl_open_failed(st != STATUS_OK ? st : closed, dir);
    if (t->s.json)
        steer_print(json_pack("{s:s, s:o, s:s}", "dir", dir, "key",
                              json_stringn(buf_str(key), key->len), "is",
                              what));
    else
        print_result(t, key, what);
    return EXIT_DONE;
}

static int block(struct steer *t, struct buf *key)
{
    char iso[CLOCK_ISO_SIZE], what[64];
    uint64_t until = 0;
    json_t *moment;
    int code = read_until(t, &until);

    if (code != EXIT_DONE)
        return code;
    clock_iso(iso, (int64_t)until * 1000);
    snprintf(what, sizeof what,
             until != 0 ? "blocked until %.19sZ" : "blocked no longer", iso);
    if (control_place_is_stopped(t->operands.item[0]))
        return block_stopped(t, key, until, what);
    code = find_queue(t, key);
    if (code != EXIT_DONE)
        return code;
    moment = until != 0 ? json_sprintf("%.19sZ", iso) : json_null();
    return set_queue(t, "/v1/queues/block", "until", moment, key, what);
}

/* ---- delay ---- */

static int delay(struct steer *t, struct buf *key)
{
    const char *text = t->operands.item[2];
    bool standard = strcmp(text, "default") == 0;
    char what[80];
    int64_t ms = 0;
    int code;

    if (!standard && quantity_time(bytes_of_str(text), &ms) != STATUS_OK)
        return usage_error(t->usage,
                           "'%s' is neither a time, such as 5 or 1.5s, nor "
                           "`default`",
                           text);
    snprintf(what, sizeof what, "asked at most every %g s",
             (double)ms / 1000.0);
    if (standard)
        snprintf(what, sizeof what, "asked with the same delay as other hosts");
    code = find_queue(t, key);
    if (code != EXIT_DONE)
        return code;
    return set_queue(t, "/v1/queues/delay", "delay_seconds",
                     standard         ? json_null()
                     : ms % 1000 == 0 ? json_integer(ms / 1000)
                                      : json_real((double)ms / 1000.0),
                     key, what);
}

/* ---- limit ---- */

static int limit(struct steer *t, struct buf *key)
{
    const char *text = t->operands.item[2];
    bool none = strcmp(text, "none") == 0;
    char what[80];
    int64_t n = 0;
    int code;

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
    code = find_queue(t, key);
    if (code != EXIT_DONE)
        return code;
    return set_queue(t, "/v1/queues/limit", "limit", json_integer(n), key,
                     what);
}

int cmd_block(int argc, char **argv)
{
    return command(&block_usage, argc, argv, block);
}

int cmd_delay(int argc, char **argv)
{
    return command(&delay_usage, argc, argv, delay);
}

int cmd_limit(int argc, char **argv)
{
    return command(&limit_usage, argc, argv, limit);
}
