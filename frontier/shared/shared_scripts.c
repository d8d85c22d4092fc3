/* SPDX-License-Identifier: MIT */
/*
 * shared_scripts.c - the Lua scripts of a shared frontier.
 *
 * shared_parts.c has the keys, and what most scripts begin with.
 */
#include "frontier/shared/shared_scripts.h"

#include <pthread.h>
#include <stddef.h>

#include "base/buf.h"
#include "frontier/shared/shared_parts.h"

#define SCRIPT_MOST ((size_t)64 << 10)

/* Literals have at most 4,095 characters, so scripts are put together when the
 * first frontier is opened. */
static const struct source {
    const char *name, *first, *parts[4], *body;
} sources[SHARED_SCRIPTS] = {
    /* KEYS: the record. ARGV: fields and values of a new one, or nothing.
     * Answers its fields and values. */
    [SHARED_BEGIN] = {"shared begin",
                      "#!lua flags=allow-oom\n",
                      {NULL},
                      "if ARGV[1] and redis.call('EXISTS', KEYS[1]) == 0 "
                      "then\n"
                      "  redis.call('HSET', KEYS[1], unpack(ARGV))\n"
                      "end\n"
                      "return redis.call('HGETALL', KEYS[1])\n"},

    /* ARGV for each URL: queue, 'k' (known) or 'd' (discovered), digest, date
     * in ms (discovered 0: now), URL, metadata. Answers a digit for each: 1: it
     * had an effect. Of a URL that is there a discovered one has none. */
    [SHARED_PUT] =
        {"shared put",
         "#!lua\n",
         {shared_head, shared_again, shared_queues, shared_changes},
         "local out = {}\n"
         "for i = own, #ARGV, 6 do\n"
         "  local x, digest = load(Q[tonumber(ARGV[i])]), ARGV[i + 2]\n"
         "  local known, due = ARGV[i + 1] == 'k', tonumber(ARGV[i + 3])\n"
         "  local e = x.there and read(x, digest)\n"
         "  if e and not known then\n"
         "    out[#out + 1] = '0'\n"
         "  else\n"
         "    out[#out + 1] = '1'\n"
         "    if not x.there then make(x) end\n"
         "    if not e then\n"
         "      e = {now, 0, call('HINCRBY', m, 'seq', 1), 0, ARGV[i + 4], "
         "''}\n"
         "      if not known and due == 0 then due = now end\n"
         "      count(x, 0, 1)\n" /* as if it was completed: date() corrects it
                                   */
         "    end\n"
         "    date(x, digest, e, due, ARGV[i + 5])\n"
         "  end\n"
         "end\n"
         "finish()\n"
         "return keep(table.concat(out))\n"},

    /* KEYS: m q, r or e. ARGV: what stands before a name there to make it an
     * ID, most leases of a queue (0: any), how many are wanted, us of turns
     * that are over. Answers names and when they may be served, us, in this
     * order. */
    [SHARED_LOOK] =
        {"shared look",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local m, q, r = KEYS[1], KEYS[2], KEYS[3]\n"
         "local time, out, from = redis.call('TIME'), {}, 0\n"
         "local us = time[1] * 1000000 + time[2]\n"
         "local most, wanted = tonumber(ARGV[2]), tonumber(ARGV[3])\n"
         "local since, step = tonumber(ARGV[4]), wanted\n"
         "if redis.call('HGET', m, 'active') == '0' then return out end\n"
         "while #out < 2 * wanted and from < 10000 do\n"
         "  local list = redis.call('ZRANGE', r, '-inf', string.format('%.0f', "
         "us),\n"
         "    'BYSCORE', 'LIMIT', from, step, 'WITHSCORES')\n"
         "  if #list == 0 then break end\n"
         "  from, step = from + step, math.min(2 * step, 200)\n"
         "  local ids = {}\n"
         "  for i = 1, #list, 2 do ids[#ids + 1] = ARGV[1] .. list[i] end\n"
         "  for i, v in ipairs(redis.call('HMGET', q, unpack(ids))) do\n"
         "    local x = v and cmsgpack.unpack(v)\n"
         "    if x and #out < 2 * wanted and\n"
         "        (most == 0 or x[8] < most or\n"
         "          x[10] >= 0 and x[10] * 1000 <= us) and\n"
         "        not (x[6] > 0 and x[7] >= since) then\n"
         "      out[#out + 1] = list[2 * i - 1]\n"
         "      out[#out + 1] = list[2 * i]\n"
         "    end\n"
         "  end\n"
         "end\n"
         "return out\n"},

    /* ARGV: most leases of a queue (0: any), length of a lease, most URLs,
     * octets after which no more are given, URLs that the first queue gave to
     * this call before (0: it has its turn now). Answers the queue that has
     * more for this call, if most URLs or octets ended it (0: none), how many
     * it has given, and for each URL queue, lease, URL, metadata, date,
     * created, ms. */
    [SHARED_CLAIM] =
        {"shared claim",
         "#!lua flags=allow-oom\n",
         {shared_head, shared_queues, shared_changes},
         "local most, length = tonumber(ARGV[own]), tonumber(ARGV[own + 1])\n"
         "local urls, octets = tonumber(ARGV[own + 2]), tonumber(ARGV[own + "
         "3])\n"
         "local before = tonumber(ARGV[own + 4])\n"
         "local out, ended = {0, 0}, false\n"
         "if call('HGET', m, 'active') == '0' then return out end\n"
         "local function sweep(x)\n"
         "  for _, token in ipairs(call('ZRANGE', x.h, '-inf', now, "
         "'BYSCORE',\n"
         "      'LIMIT', 0, 1000)) do\n"
         "    local digest = (call('HGET', t, token) or ''):sub(7, 22)\n"
         "    local e = read(x, digest)\n"
         "    end_lease(x, token)\n"
         "    if e then\n"
         "      e[4] = 0\n"
         "      write(x, digest, e)\n"
         "      call('ZADD', x.w, int(e[2]), at(e[3], digest))\n"
         "    end\n"
         "    x.dirty, x.reread = true, true\n"
         "  end\n"
         "end\n"
         "local function may_be_served(x)\n"
         "  return not is_full(x) and x.blocked <= now and\n"
         "    (x.served == 0 or us >= x.turn + delay_of(x)) and\n"
         "    (most == 0 or call('ZCARD', x.h) < most)\n"
         "end\n"
         "local function give(i, x, given)\n"
         "  local limit = most > 0 and math.min(urls, most - given) or urls\n"
         "  local list = call('ZRANGE', x.w, '-inf', now, 'BYSCORE', 'LIMIT', "
         "0,\n"
         "    limit)\n"
         "  local took = 0\n"
         "  for _, place in ipairs(list) do\n"
         "    if octets <= 0 then break end\n"
         "    local digest = place:sub(7)\n"
         "    local e, token = read(x, digest), call('HINCRBY', m, 'token', "
         "1)\n"
         "    local name, till = int(token), int(now + length)\n"
         "    call('ZADD', x.h, till, name)\n"
         "    call('ZADD', x.crawl.g, till, name)\n"
         "    call('ZADD', l, till, name)\n"
         "    call('HSET', t, name, place .. x.id)\n"
         "    call('ZREM', x.w, place)\n"
         "    e[4] = token\n"
         "    write(x, digest, e)\n"
         "    for _, v in ipairs({i, token, e[5], e[6], e[2], e[1]}) do\n"
         "      out[#out + 1] = v\n"
         "    end\n"
         "    took = took + 1\n"
         "    octets = octets - #e[5] - #e[6] - 64\n"
         "  end\n"
         "  urls = urls - took\n"
         "  if (urls == 0 or octets <= 0) and (most == 0 or given + took < "
         "most) then\n"
         "    out[1], out[2], ended = i, given + took, true\n"
         "  end\n"
         "  if took > 0 and given == 0 then\n"
         "    made = made + 1\n"
         "    x.served, x.turn = 1, us + made\n"
         "  end\n"
         "  x.dirty, x.reread = true, true\n"
         "end\n"
         "for i, x in ipairs(Q) do\n"
         "  local given = i == 1 and before or 0\n"
         "  if not ended and urls > 0 and load(x).there then\n"
         "    sweep(x)\n"
         "    if given > 0 and x.blocked <= now or\n"
         "        given == 0 and may_be_served(x) then give(i, x, given) end\n"
         "  end\n"
         "end\n"
         "finish()\n"
         "return out\n"},

    /* KEYS: t. ARGV: a lease. Answers the place of its URL, and ID; nothing: it
     * is unknown. */
    [SHARED_WHOSE] = {"shared whose",
                      "#!lua flags=no-writes,allow-oom\n",
                      {NULL},
                      "return redis.call('HGET', KEYS[1], ARGV[1])\n"},

    /* ARGV: lease, digest, 'extend' or 'date', until when or date (ms), 'keep'
     * or 'new', metadata. Answers 1; 0: there is no such lease. */
    [SHARED_SETTLE] =
        {"shared settle",
         "#!lua flags=allow-oom\n",
         {shared_head, shared_again, shared_queues, shared_changes},
         "local token, digest, due = ARGV[own], ARGV[own + 1], ARGV[own + 3]\n"
         "local x = load(Q[1])\n"
         "local e = x.there and read(x, digest)\n"
         "local till = call('ZSCORE', x.h, token)\n"
         "if not e or int(e[4]) ~= token or not till or tonumber(till) <= now "
         "then\n"
         "  return keep('0')\n"
         "end\n"
         "if ARGV[own + 2] == 'extend' then\n"
         "  for _, key in ipairs({x.h, x.crawl.g, l}) do\n"
         "    call('ZADD', key, due, token)\n"
         "  end\n"
         "  x.dirty, x.reread = true, true\n"
         "else\n"
         "  date(x, digest, e, tonumber(due),\n"
         "    ARGV[own + 4] == 'keep' and e[6] or ARGV[own + 5])\n"
         "end\n"
         "finish()\n"
         "return keep('1')\n"},

    /* KEYS: m q u h. ARGV: ID, digest. Answers URL, metadata, date, created,
     * lease and its end (0: none), and of the queue blocked until, served at,
     * delay, ms, limit; nothing: there is no such URL. */
    [SHARED_FIND] =
        {"shared find",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local m, q, u, h = unpack(KEYS)\n"
         "local v, x = redis.call('HGET', u, ARGV[2]), redis.call('HGET', q, "
         "ARGV[1])\n"
         "if not v or not x then return {} end\n"
         "local time = redis.call('TIME')\n"
         "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
         "local e = cmsgpack.unpack(v)\n"
         "x = cmsgpack.unpack(x)\n"
         "local token = string.format('%.0f', e[4])\n"
         "local till = tonumber(redis.call('ZSCORE', h, token) or '0')\n"
         "if till <= now then e[4], till = 0, 0 end\n"
         "return {e[5], e[6], e[2], e[1], e[4], till, x[4],\n"
         "  x[6] > 0 and math.floor(x[7] / 1000) or 0,\n"
         "  x[3] >= 0 and x[3] or\n"
         "    tonumber(redis.call('HGET', m, 'delay') or '1000'), x[5]}\n"},

    /* KEYS: c k g of a crawl. Answers not completed, leased, completed, queues,
     * queues that have one that is not completed. */
    [SHARED_COUNT] =
        {"shared count",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local time = redis.call('TIME')\n"
         "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
         "local v = redis.call('HMGET', KEYS[1], 'a', 'd', 'aq')\n"
         "return {tonumber(v[1] or '0'),\n"
         "  redis.call('ZCOUNT', KEYS[3], '(' .. now, '+inf'),\n"
         "  tonumber(v[2] or '0'), redis.call('ZCARD', KEYS[2]),\n"
         "  tonumber(v[3] or '0')}\n"},

    /* KEYS: q h. ARGV: ID. The same of one queue. */
    [SHARED_COUNT_QUEUE] =
        {"shared count queue",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local time = redis.call('TIME')\n"
         "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
         "local v = redis.call('HGET', KEYS[1], ARGV[1])\n"
         "if not v then return {0, 0, 0, 0, 0} end\n"
         "v = cmsgpack.unpack(v)\n"
         "return {v[1], redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf'), "
         "v[2], 1,\n"
         "  v[1] > 0 and 1 or 0}\n"},

    /* KEYS: m q l. The same of the shard, and whether it gives out URLs. */
    [SHARED_TOTAL] =
        {"shared total",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local time = redis.call('TIME')\n"
         "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
         "local v = redis.call('HMGET', KEYS[1], 'a', 'd', 'aq', 'active')\n"
         "return {tonumber(v[1] or '0'),\n"
         "  redis.call('ZCOUNT', KEYS[3], '(' .. now, '+inf'),\n"
         "  tonumber(v[2] or '0'), redis.call('HLEN', KEYS[2]),\n"
         "  tonumber(v[3] or '0'), v[4] == '0' and 0 or 1}\n"},

    /* KEYS: q k. ARGV: what makes a key an ID, rank of the first, most, '1':
     * also those that are blocked or finished. Answers how many it has looked
     * at, and keys. */
    [SHARED_QUEUES] =
        {"shared queues",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local time = redis.call('TIME')\n"
         "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
         "local keys = redis.call('ZRANGE', KEYS[2], ARGV[2],\n"
         "  ARGV[2] + ARGV[3] - 1)\n"
         "local out, ids = {#keys}, {}\n"
         "if #keys == 0 then return out end\n"
         "for i, key in ipairs(keys) do ids[i] = ARGV[1] .. key end\n"
         "for i, v in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do\n"
         "  local x = v and cmsgpack.unpack(v)\n"
         "  if x and (ARGV[4] == '1' or x[1] > 0 and x[4] <= now) then\n"
         "    out[#out + 1] = keys[i]\n"
         "  end\n"
         "end\n"
         "return out\n"},

    /* KEYS: u h. ARGV: cursor of HSCAN, URLs to pass there, octets after which
     * it ends. Answers the next two, 1: that was all, and for each URL it,
     * metadata, date, created, the end of its lease (0: none). */
    [SHARED_LIST] =
        {"shared list",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local time = redis.call('TIME')\n"
         "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
         "local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', 50)\n"
         "local skip, octets = tonumber(ARGV[2]), tonumber(ARGV[3])\n"
         "local list, out = page[2], {page[1], 0, page[1] == '0' and 1 or 0}\n"
         "for i = 2 * skip + 2, #list, 2 do\n"
         "  if octets <= 0 then\n"
         "    out[1], out[2], out[3] = ARGV[1], i / 2 - 1, 0\n"
         "    break\n"
         "  end\n"
         "  local e = cmsgpack.unpack(list[i])\n"
         "  local till = e[4] > 0 and tonumber(redis.call('ZSCORE', KEYS[2],\n"
         "    string.format('%.0f', e[4])) or '0') or 0\n"
         "  if till <= now then till = 0 end\n"
         "  for _, v in ipairs({e[5], e[6], e[2], e[1], till}) do\n"
         "    out[#out + 1] = v\n"
         "  end\n"
         "  octets = octets - #e[5] - #e[6] - 64\n"
         "end\n"
         "return out\n"},

    /* ARGV: 'blocked', 'delay' or 'limit', and its value. Answers 1; 0: there
     * is no such queue. */
    [SHARED_SET] = {"shared set",
                    "#!lua flags=allow-oom\n",
                    {shared_head, shared_again, shared_queues, shared_changes},
                    "local x = load(Q[1])\n"
                    "if not x.there then return keep('0') end\n"
                    "x[ARGV[own]], x.dirty = tonumber(ARGV[own + 1]), true\n"
                    "finish()\n"
                    "return keep('1')\n"},

    /* Removes queues. Answers how many URLs they had. */
    [SHARED_REMOVE] =
        {"shared remove",
         "#!lua flags=allow-oom\n",
         {shared_head, shared_again, shared_queues, shared_changes},
         "local gone = 0\n"
         "for _, x in ipairs(Q) do\n"
         "  if load(x).there then\n"
         "    gone = gone + x.a + x.d\n"
         "    for _, token in ipairs(call('ZRANGE', x.h, 0, -1)) do\n"
         "      end_lease(x, token)\n"
         "    end\n"
         "    call('UNLINK', x.u, x.w, x.h)\n"
         "    count(x, -x.a, -x.d)\n"
         "    x.dirty = false\n"
         "    call('HDEL', q, x.id)\n"
         "    call('ZREM', r, x.id)\n"
         "    call('ZREM', x.crawl.k, x.key)\n"
         "    call('ZREM', x.crawl.e, x.key)\n"
         "    if call('HINCRBY', n, x.crawl.name, -1) <= 0 then\n"
         "      call('HDEL', n, x.crawl.name)\n"
         "    end\n"
         "  end\n"
         "end\n"
         "finish()\n"
         "for _, c in ipairs(C) do\n"
         "  if call('HEXISTS', n, c.name) == 0 then call('UNLINK', c.c) end\n"
         "end\n"
         "return keep(int(gone))\n"},

    /* Removes URLs of one queue that were created before a moment. ARGV: it,
     * ms, and a cursor of HSCAN. Answers the next cursor, a blank, and how
     * many. */
    [SHARED_PURGE] =
        {"shared purge",
         "#!lua flags=allow-oom\n",
         {shared_head, shared_again, shared_queues, shared_changes},
         "local x, gone = load(Q[1]), 0\n"
         "local page = call('HSCAN', x.u, ARGV[own + 1], 'COUNT', 200)\n"
         "for i = 1, #page[2], 2 do\n"
         "  local digest, e = page[2][i], cmsgpack.unpack(page[2][i + 1])\n"
         "  if x.there and e[1] < tonumber(ARGV[own]) then\n"
         "    take(x, digest, e)\n"
         "    call('HDEL', x.u, digest)\n"
         "    count(x, e[2] == 0 and 0 or -1, e[2] == 0 and -1 or 0)\n"
         "    gone = gone + 1\n"
         "  end\n"
         "end\n"
         "finish()\n"
         "return keep(page[1] .. ' ' .. gone)\n"},

    /* KEYS: n. Answers the crawls. */
    [SHARED_NAMES] = {"shared names",
                      "#!lua flags=no-writes,allow-oom\n",
                      {NULL},
                      "return redis.call('HKEYS', KEYS[1])\n"},

    /* ARGV: field of m and its value, rank of the first queue of the one crawl
     * to place anew (-1: none). Answers how many were. */
    [SHARED_TUNE] =
        {"shared tune",
         "#!lua flags=allow-oom\n",
         {shared_head, shared_again, shared_queues},
         "call('HSET', m, ARGV[own], ARGV[own + 1])\n"
         "if ARGV[own] == 'delay' then standard = tonumber(ARGV[own + 1]) end\n"
         "local from, keys = tonumber(ARGV[own + 2]), {}\n"
         "if from >= 0 then keys = call('ZRANGE', C[1].k, from, from + 499) "
         "end\n"
         "for _, key in ipairs(keys) do\n"
         "  place(load({crawl = C[1], key = key,\n"
         "    id = #C[1].name .. ':' .. C[1].name .. key}))\n"
         "end\n"
         "return keep(int(#keys))\n"},

    /* KEYS: q. ARGV: cursor of HSCAN. Answers the next one, and IDs of queues
     * with URLs that are not completed; one may come twice. */
    [SHARED_SCAN] =
        {"shared scan",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local v = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', 100)\n"
         "local out = {v[1]}\n"
         "for i = 1, #v[2], 2 do\n"
         "  if cmsgpack.unpack(v[2][i + 1])[1] > 0 then\n"
         "    out[#out + 1] = v[2][i]\n"
         "  end\n"
         "end\n"
         "return out\n"},

    /* KEYS: u of queues. ARGV: ms past its date from which a URL is overdue,
     * and for each queue a cursor of HSCAN. Answers how many URLs it has looked
     * at, how many have a date that a program gave (one without was due when it
     * was put), how many are overdue, the first of their dates, and for each
     * queue its next cursor. */
    [SHARED_DATES] =
        {"shared dates",
         "#!lua flags=no-writes,allow-oom\n",
         {NULL},
         "local time = redis.call('TIME')\n"
         "local past = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1]\n"
         "local out = {0, 0, 0, 0}\n"
         "for k = 1, #KEYS do\n"
         "  local v = redis.call('HSCAN', KEYS[k], ARGV[k + 1], 'COUNT', 200)\n"
         "  out[1] = out[1] + #v[2] / 2\n"
         "  for i = 2, #v[2], 2 do\n"
         "    local e = cmsgpack.unpack(v[2][i])\n"
         "    if e[2] > 0 and e[2] ~= e[1] then\n"
         "      out[2] = out[2] + 1\n"
         "      if e[2] <= past then\n"
         "        out[4] = out[3] == 0 and e[2] or math.min(out[4], e[2])\n"
         "        out[3] = out[3] + 1\n"
         "      end\n"
         "    end\n"
         "  end\n"
         "  out[#out + 1] = v[1]\n"
         "end\n"
         "return out\n"},
};

static struct redis_script made[SHARED_SCRIPTS];
static const struct redis_script *table[SHARED_SCRIPTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_all(void)
{
    for (unsigned i = 0; i < SHARED_SCRIPTS; i++) {
        const struct source *from = &sources[i];
        struct buf text;

        buf_init(&text, SCRIPT_MOST);
        buf_add_str(&text, from->first);
        for (size_t k = 0; k < 4 && from->parts[k] != NULL; k++)
            buf_add_str(&text, from->parts[k]);
        buf_add_str(&text, from->body);
        made[i] = (struct redis_script){i, from->name, buf_take(&text, NULL)};
        table[i] = &made[i];
    }
}

const struct redis_script *const *shared_scripts(void)
{
    pthread_once(&once, make_all);
    return table;
}

const struct redis_script *shared_script(enum shared_script_number n)
{
    return &made[n];
}
