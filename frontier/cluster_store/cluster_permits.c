/* SPDX-License-Identifier: MIT */
/* cluster_permits.c - asks for permits to fetch pages. */
#include "frontier/cluster_store/cluster_permits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"
#include "frontier/cluster_store/cluster_watch.h"

/* KEYS: g, a. ARGV: worker, used, want, limit, the ms without a sign of life
 * after which a worker holds nothing any more; or the pages that there are so
 * far; or nothing. Answers how many the worker holds, and the pages of the
 * crawl; or 1; or these pages. The fields of g are pages, held (the sum), and
 * USED:HELD of each worker. A repeat changes nothing. */
const struct redis_script cluster_script_permits = {
    41, "permits",
    "#!lua flags=allow-oom\n"
    "local call, g = redis.call, KEYS[1]\n"
    "if #ARGV == 0 then return tonumber(call('HGET', g, 'pages') or '0') end\n"
    "if #ARGV == 1 then\n"
    "  call('HSET', g, 'pages', ARGV[1])\n"
    "  return 1\n"
    "end\n"
    "local function of(worker)\n"
    "  local u, h = (call('HGET', g, worker) or '0:0'):match('^(%d+):(%d+)')\n"
    "  return tonumber(u or 0), tonumber(h or 0)\n"
    "end\n"
    "local me, used, want = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])\n"
    "local was, held = of(me)\n"
    "used = math.max(used, was)\n"
    "local pages = call('HINCRBY', g, 'pages', used - was)\n"
    "local others = tonumber(call('HGET', g, 'held') or '0') - held\n"
    "if want > 0 and pages + others + want > tonumber(ARGV[4]) then\n"
    "  local t = call('TIME')\n"
    "  local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "  for _, id in ipairs(call('HKEYS', g)) do\n"
    "    local heard = call('ZSCORE', KEYS[2], id)\n"
    "    if id ~= me and id ~= 'pages' and id ~= 'held' and\n"
    "        not (heard and now - heard < tonumber(ARGV[5])) then\n"
    "      local u, h = of(id)\n"
    "      others = others - h\n"
    "      if h > 0 then call('HSET', g, id, u .. ':0') end\n"
    "    end\n"
    "  end\n"
    "end\n"
    "others = math.max(others, 0)\n"
    "held = math.max(math.min(want, ARGV[4] - pages - others), 0)\n"
    "call('HSET', g, me, string.format('%.0f:%.0f', used, held),\n"
    "  'held', string.format('%.0f', others + held))\n"
    "return {held, pages}\n"};

struct permits_call {
    cluster_permits_end *end;
    void *ctx;
};

static void came(void *ctx, enum status st, const redisReply *r)
{
    struct permits_call *c = ctx;
    struct cluster_permits p = {0, 0};

    if (st == STATUS_OK &&
        (r->type != REDIS_REPLY_ARRAY || r->elements != 2 ||
         r->element[0]->type != REDIS_REPLY_INTEGER ||
         r->element[1]->type != REDIS_REPLY_INTEGER ||
         r->element[0]->integer < 0 || r->element[1]->integer < 0))
        st = STATUS_FORMAT;
    if (st == STATUS_OK) {
        p.held = (uint64_t)r->element[0]->integer;
        p.pages = (uint64_t)r->element[1]->integer;
    }
    c->end(c->ctx, st, &p);
    free(c);
}

void cluster_store_ask_permits(struct cluster_store *s, const char *name,
                               uint64_t used, uint64_t want, uint64_t limit,
                               cluster_permits_end *end, void *ctx)
{
    struct permits_call *c = xcalloc(1, sizeof *c);
    char text[4][24];
    struct bytes args[5] = {bytes_of_str(name)};

    snprintf(text[0], sizeof text[0], "%" PRIu64, used);
    snprintf(text[1], sizeof text[1], "%" PRIu64, want);
    snprintf(text[2], sizeof text[2], "%" PRIu64, limit);
    snprintf(text[3], sizeof text[3], "%" PRId64,
             CLUSTER_ALIVE_MS + s->o.lease_ms);
    for (int i = 0; i < 4; i++)
        args[i + 1] = bytes_of_str(text[i]);
    c->end = end;
    c->ctx = ctx;
    cluster_record_run(s, &cluster_script_permits, "ga", args, 5, false, came,
                       c);
}

enum status cluster_store_get_pages(struct cluster_store *s, uint64_t *pages)
{
    return cluster_record_ask(s, &cluster_script_permits, "ga", NULL, 0, pages);
}

enum status cluster_store_set_pages(struct cluster_store *s, uint64_t pages)
{
    char text[24];
    struct bytes arg;
    uint64_t done;

    snprintf(text, sizeof text, "%" PRIu64, pages);
    arg = bytes_of_str(text);
    return cluster_record_ask(s, &cluster_script_permits, "ga", &arg, 1, &done);
}
