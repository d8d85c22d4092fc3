/* SPDX-License-Identifier: MIT */
/*
 * shared_parts.c - keys of a shared frontier, and what its scripts have in
 * common.
 *
 * Keys of shard 17 (in hexadecimal digits) of the frontier NAME. ID is a
 * queue: octets of its crawl, a colon, its crawl, its key. All but p are
 * written by scripts that change URLs, together:
 *
 *   {NAME}           hash: format, shards, seed of the digests
 *   {NAME:17}m       hash: last URL (seq), last lease (token), default delay,
 *                    active, counts of all queues (a, d, aq)
 *   {NAME:17}n       hash: crawl -> how many queues it has here
 *   {NAME:17}q       hash: ID -> what is known of the queue (below)
 *   {NAME:17}r       sorted set: ID -> when the queue may be served, us
 *   {NAME:17}l       sorted set: lease -> its end, ms
 *   {NAME:17}t       hash: lease -> place of its URL, and ID
 *   {NAME:17}c:CRAWL hash: a not completed, d completed, aq queues with a > 0
 *   {NAME:17}k:CRAWL sorted set: key -> when it appeared, us: all its queues
 *   {NAME:17}e:CRAWL sorted set: key -> as r
 *   {NAME:17}g:CRAWL sorted set: as l
 *   {NAME:17}u:ID    hash: digest of a URL -> created, due, seq, lease, URL,
 *                    metadata; due 0: completed; lease 0: not leased
 *   {NAME:17}w:ID    sorted set: place -> date, ms: URLs that wait
 *   {NAME:17}h:ID    sorted set: as l
 *   {NAME:17}p:X     the answer of the last call of one caller; ends by itself
 *
 * A place is the number of the URL, six octets, and its digest, sixteen: URLs
 * of equal dates go in order of arrival. A URL that is not completed is in w or
 * in h. A lease that is over stays in h until its queue is looked at by the
 * next claim, and then has its old place in w; counts of leases leave out those
 * that are over, so they need nobody to look.
 *
 * r and e have queues with something to wait for. Their order is that in which
 * queues may be served, and no two are served at the same microsecond, so
 * queues take turns.
 *
 * A call that a lost connection or a failover repeats would skip the URLs that
 * its first run has put, and find no lease that it has ended. So a script that
 * changes something keeps its answer under p with the number of the call, one
 * for each thread of a service, and gives it again. A claim has no such answer:
 * what its first run leased comes back when these leases end.
 *
 * allow-oom: a full server takes no new URLs, but gives out and ends leases,
 * deletes, and is read.
 */
#include "frontier/shared/shared_parts.h"

const char shared_head[] =
    "local call = redis.call\n"
    "local memo, m, n, q, r, l, t = unpack(KEYS, 1, 7)\n"
    "local time = call('TIME')\n"
    "local us = time[1] * 1000000 + time[2]\n"
    "local now = math.floor(us / 1000)\n"
    "local function int(x) return string.format('%.0f', x) end\n";

/* The answer is kept for ten minutes, longer than a call is repeated. */
const char shared_again[] =
    "local function keep(answer)\n"
    "  call('SET', memo, ARGV[1] .. ' ' .. answer, 'EX', 600)\n"
    "  return answer\n"
    "end\n"
    "local number, answer = (call('GET', memo) or ''):match('^(%d+) (.*)$')\n"
    "if number == ARGV[1] then return keep(answer) end\n";

/* The crawls and queues of a call (shared_call.h), C and Q. A queue in q:
 * a not completed, d completed, delay ms or -1, blocked until ms, limit,
 * served or not (1, 0), turn: when that was or it appeared (us), held: places
 * in h, first: when something is due or a lease ends (ms; -1: never), over:
 * when the first lease ends (ms; -1: none). */
const char shared_queues[] =
    "local nc, nq = tonumber(ARGV[2]), tonumber(ARGV[3])\n"
    "local C, Q, made = {}, {}, 0\n"
    "for i = 1, nc do\n"
    "  local k = 4 + 4 * i\n"
    "  C[i] = {name = ARGV[3 + i], c = KEYS[k], k = KEYS[k + 1],\n"
    "    e = KEYS[k + 2], g = KEYS[k + 3], a = 0, d = 0, aq = 0}\n"
    "end\n"
    "for i = 1, nq do\n"
    "  local k, at = 5 + 4 * nc + 3 * i, 2 + nc + 2 * i\n"
    "  local crawl, key = C[tonumber(ARGV[at])], ARGV[at + 1]\n"
    "  Q[i] = {crawl = crawl, key = key,\n"
    "    id = #crawl.name .. ':' .. crawl.name .. key,\n"
    "    u = KEYS[k], w = KEYS[k + 1], h = KEYS[k + 2]}\n"
    "end\n"
    "local own = 4 + nc + 2 * nq\n"
    "local standard = tonumber(call('HGET', m, 'delay') or '1000')\n"
    "local fields = {'a', 'd', 'delay', 'blocked', 'limit', 'served',\n"
    "  'turn', 'held', 'first', 'over'}\n"
    "local function delay_of(x)\n"
    "  return (x.delay >= 0 and x.delay or standard) * 1000\n"
    "end\n"
    "local function is_full(x) return x.limit > 0 and x.d >= x.limit end\n"
    "local function wake_of(x)\n" /* nil: there is nothing to wait for */
    "  if x.first < 0 or is_full(x) then return nil end\n"
    "  local wake = math.max(x.first * 1000, x.blocked * 1000, x.turn)\n"
    "  if x.served == 0 then return wake end\n"
    "  return math.max(wake, x.turn + delay_of(x))\n"
    "end\n"
    "local function load(x)\n"
    "  if x.loaded then return x end\n"
    "  local v = call('HGET', q, x.id)\n"
    "  x.loaded, x.there = true, v and true\n"
    "  if v then\n"
    "    v = cmsgpack.unpack(v)\n"
    "    for i, f in ipairs(fields) do x[f] = v[i] end\n"
    "    x.was = wake_of(x)\n"
    "  end\n"
    "  return x\n"
    "end\n"
    "local function make(x)\n"
    "  made = made + 1\n"
    "  x.there, x.a, x.d, x.delay, x.blocked, x.limit = true, 0, 0, -1, 0, "
    "0\n"
    "  x.served, x.turn, x.held, x.first, x.over = 0, us + made, 0, -1, -1\n"
    "  call('ZADD', x.crawl.k, int(x.turn), x.key)\n"
    "  call('HINCRBY', n, x.crawl.name, 1)\n"
    "end\n"
    "local function place(x)\n"
    "  local wake = wake_of(x)\n"
    "  if wake then\n"
    "    call('ZADD', r, int(wake), x.id)\n"
    "    call('ZADD', x.crawl.e, int(wake), x.key)\n"
    "  else\n"
    "    call('ZREM', r, x.id)\n"
    "    call('ZREM', x.crawl.e, x.key)\n"
    "  end\n"
    "end\n";

const char shared_changes[] =
    "local function count(x, a, d)\n"
    "  local c, was = x.crawl, x.a > 0\n"
    "  x.a, x.d, c.a, c.d = x.a + a, x.d + d, c.a + a, c.d + d\n"
    "  c.aq = c.aq + (x.a > 0 and 1 or 0) - (was and 1 or 0)\n"
    "  x.dirty = true\n"
    "end\n"
    "local function at(seq, digest)\n"
    "  return struct.pack('>I6', seq) .. digest\n"
    "end\n"
    "local function read(x, digest)\n"
    "  local v = call('HGET', x.u, digest)\n"
    "  return v and cmsgpack.unpack(v)\n"
    "end\n"
    "local function write(x, digest, e)\n"
    "  call('HSET', x.u, digest, cmsgpack.pack(e))\n"
    "end\n"
    "local function end_lease(x, token)\n"
    "  call('ZREM', x.h, token)\n"
    "  call('ZREM', x.crawl.g, token)\n"
    "  call('ZREM', l, token)\n"
    "  call('HDEL', t, token)\n"
    "  x.dirty, x.reread = true, true\n"
    "end\n" /* takes a URL out of where it is */
    "local function take(x, digest, e)\n"
    "  if e[4] > 0 then end_lease(x, int(e[4]))\n"
    "  elseif e[2] > 0 then\n"
    "    call('ZREM', x.w, at(e[3], digest))\n"
    "    x.reread = true\n"
    "  end\n"
    "end\n"
    "local function date(x, digest, e, due, metadata)\n"
    "  local was, is = e[2] == 0 and 1 or 0, due == 0 and 1 or 0\n"
    "  take(x, digest, e)\n"
    "  if due == 0 then metadata = ''\n"
    "  else\n"
    "    call('ZADD', x.w, int(due), at(e[3], digest))\n"
    "    if x.first < 0 or due < x.first then x.first = due end\n"
    "  end\n"
    "  e[2], e[4], e[6] = due, 0, metadata\n"
    "  write(x, digest, e)\n"
    "  count(x, was - is, is - was)\n"
    "end\n"
    "local function finish()\n"
    "  for _, x in ipairs(Q) do\n"
    "    if x.reread then\n"
    "      local e = call('ZRANGE', x.w, 0, 0, 'WITHSCORES')\n"
    "      local f = call('ZRANGE', x.h, 0, 0, 'WITHSCORES')\n"
    "      x.held = call('ZCARD', x.h)\n"
    "      x.over = tonumber(f[2] or '-1')\n"
    "      x.first = tonumber(e[2] or '-1')\n"
    "      if x.first < 0 or x.over >= 0 and x.over < x.first then\n"
    "        x.first = x.over\n"
    "      end\n"
    "    end\n"
    "    if x.dirty then\n"
    "      local v = {}\n"
    "      for i, name in ipairs(fields) do v[i] = x[name] end\n"
    "      call('HSET', q, x.id, cmsgpack.pack(v))\n"
    "      if wake_of(x) ~= x.was then place(x) end\n"
    "    end\n"
    "  end\n"
    "  for _, c in ipairs(C) do\n"
    "    for _, name in ipairs({'a', 'd', 'aq'}) do\n"
    "      if c[name] ~= 0 then\n"
    "        call('HINCRBY', c.c, name, int(c[name]))\n"
    "        call('HINCRBY', m, name, int(c[name]))\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "end\n";
