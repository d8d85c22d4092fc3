/* SPDX-License-Identifier: MIT */
/* redo.c - what `urlweir retry` and `urlweir refresh` share. */
#include "cli/run/redo.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/run/crawl_run.h"
#include "job/exit_code.h"

#define HOST_MOST 4096

static void print_count(const struct steer *t, const struct redo *r, uint64_t n)
{
    if (t->s.json)
        printf("{\"%s\":%" PRIu64 "}\n", r->count, n);
    else
        printf("%" PRIu64 " URL%s %s\n", n, n == 1 ? "" : "s", r->done);
}

static int redo_stopped(struct steer *t, const struct redo *r,
                        struct bytes host, void *ctx)
{
    const char *dir = t->operands.item[0];
    struct stopped_crawl *c = NULL;
    uint64_t n = 0, left = 0;
    enum status st, closed;
    int code = EXIT_DONE;

    if (!stopped_crawl_open(&c, r->verb, dir, &code))
        return code;
    st = r->stopped(c, t, host, ctx, &n);
    closed = stopped_crawl_close(c, &left);
    if (st == STATUS_OK)
        st = closed;
    if (st != STATUS_OK)
        return crawl_open_failed(st, dir);
    print_count(t, r, n);
    stopped_crawl_say_left(r->verb, dir, r->left, r->left_is_count ? n : left);
    return EXIT_DONE;
}

static int redo_running(struct steer *t, const struct redo *r,
                        struct bytes host)
{
    json_t *body = NULL, *answer = NULL;
    int code = steer_connect(t);

    if (code == EXIT_DONE)
        code = steer_choose(t, false);
    if (code != EXIT_DONE)
        return code;
    body = json_object();
    if (host.len > 0)
        json_object_set_new(body, "host", json_stringn(host.at, host.len));
    r->ask(t, body);
    code = steer_crawl_verb(t, r->verb, body, &answer);
    if (code == EXIT_DONE)
        print_count(t, r,
                    (uint64_t)json_integer_value(
                        json_object_get(answer, r->count)));
    json_decref(answer);
    json_decref(body);
    return code;
}

int redo_urls(struct steer *t, const struct redo *r, void *ctx)
{
    struct buf host;
    int code;

    buf_init(&host, HOST_MOST);
    code = r->read(t, ctx);
    if (code == EXIT_DONE && t->s.host != NULL)
        code = steer_host_key(t, t->s.host, &host);
    if (code == EXIT_DONE)
        code = control_place_is_stopped(t->operands.item[0])
                   ? redo_stopped(t, r, buf_bytes(&host), ctx)
                   : redo_running(t, r, buf_bytes(&host));
    buf_fini(&host);
    return code;
}
