/* SPDX-License-Identifier: MIT */
/*
 * cluster_scripts.c - what the servers of a cluster run.
 *
 * Keys of crawl NAME, and of its shard 23 (hexadecimal 17), which are all in
 * one slot:
 *
 *   {NAME}           hash: the crawl's record (cluster_store.c)
 *   {NAME}p          sorted set: places, seeds and what they were redirected
 *                    to -> number, from 0: they open the scope
 *   {NAME}g          hash: permits to fetch pages (cluster_permits.c)
 *   {NAME:17}m       hash: counts and state of the shard
 *                    buckets, seen, done, token, puts, expired, run, hold;
 *                    by:HOST, the worker that has leased the host
 *                    set by a person (cluster_steer_scripts.c):
 *                    until:HOST, it is blocked until then
 *                    delay:HOST, ms, in place of the crawl's delay
 *                    limit:HOST, most URLs of it that are done
 *   {NAME:17}r       sorted set: host -> when it may be asked next; hosts with
 *                    waiting URLs that are not leased
 *   {NAME:17}l       sorted set: leased host -> deadline
 *   {NAME:17}t       hash: leased host -> TOKEN:ITEM
 *   {NAME:17}h       hash: host -> NOT_BEFORE:PAUSE:TOKEN:DONE:STATE, of the
 *                    last acknowledgement; DONE: URLs of it that are done
 *   {NAME:17}q:HOST  list of items, the next one first
 *   {NAME:17}d:HOST  sorted set: item that waits for a time of its own -> then
 *   {NAME:17}s:N     set of fingerprints: bucket N of the seen set
 *
 * An item is opaque but for its first octet, the number of leases it was lost
 * with. A fingerprint is 63 bits in decimal digits: a set of nothing but
 * integers is an array of 8 octets each, up to set-max-intset-entries (512).
 * Buckets therefore split by linear hashing (Litwin, VLDB 1980): bucket n is
 * split off from bucket n - b, b being the largest power of two up to n, and
 * takes the fingerprints with fp mod 2b = n.
 *
 * A host is in r, or in l, or has nothing waiting. put() relies on it: only the
 * first item of an empty queue needs a look at r, l and h.
 *
 * An abort in the middle of put() can repeat a URL but not lose one, since
 * fingerprints are added last. put() writes in any case, as WAIT counts the
 * replicas of what a connection wrote (base/redis/redis_node.c).
 *
 * allow-oom: a full server takes no new URLs, but gives out and ends leases,
 * which makes room, and is watched and steered as any other.
 */
#include "frontier/cluster_store/cluster_scripts.h"

#define NOW                                                                    \
    "local t = redis.call('TIME')\n"                                           \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/* Puts a host that is not leased where it belongs: due no sooner than nb.
 * Returns when it is due; nil: nothing of it waits. */
#define SCHEDULE                                                               \
    "local function schedule(host, q, d, nb)\n"                                \
    "  if redis.call('LLEN', q) == 0 then\n"                                   \
    "    local e = redis.call('ZRANGE', d, 0, 0, 'WITHSCORES')\n"              \
    "    if not e[1] then redis.call('ZREM', KEYS[2], host) return end\n"      \
    "    nb = math.max(nb, tonumber(e[2]))\n"                                  \
    "  end\n"                                                                  \
    "  redis.call('ZADD', KEYS[2], string.format('%.0f', nb), host)\n"         \
    "  return nb\n"                                                            \
    "end\n"

/* KEYS: the crawl's hash. ARGV: 'new' or '', fields and values of a new one.
 * Answers its fields and values; nothing: there is none; 0: it exists. One
 * whose creator did not come to put all seeds is created once more; its seed
 * stays, since URLs are in already. */
const struct redis_script cluster_script_begin = {
    0, "begin",
    "#!lua flags=allow-oom\n"
    "local have = redis.call('EXISTS', KEYS[1]) == 1\n"
    "if ARGV[1] == 'new' then\n"
    "  if have and redis.call('HGET', KEYS[1], 'state') ~= 'new' then\n"
    "    return 0\n"
    "  end\n"
    "  for i = 2, #ARGV, 2 do\n"
    "    if not have or ARGV[i] == 'settings' then\n"
    "      redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])\n"
    "    end\n"
    "  end\n"
    "end\n"
    "return redis.call('HGETALL', KEYS[1])\n"};

/* KEYS: m r l h, and for each item q and s. ARGV: the buckets that the caller
 * knows of, and for each item host, fingerprint, item. Answers buckets, seen,
 * and a digit for each item, 0: not new, 2: nothing else of its host waits,
 * which is due, 3: the same, and it was asked before, 1: new otherwise; or
 * buckets alone, if there are others. */
const struct redis_script cluster_script_put = {
    1, "put",
    "#!lua\n"
    "local call = redis.call\n"
    "local m, r, l, h = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\n"
    "local n = tonumber(call('HGET', m, 'buckets') or '1')\n"
    "call('HINCRBY', m, 'puts', 1)\n"
    "if n ~= tonumber(ARGV[1]) then return {n} end\n"
    "local out, mine, fresh = {}, {}, {}\n"
    "for i = 1, (#ARGV - 1) / 3 do\n"
    "  local q, s = KEYS[3 + 2 * i], KEYS[4 + 2 * i]\n"
    "  local host, fp = ARGV[3 * i - 1], ARGV[3 * i]\n"
    "  if mine[fp] or call('SISMEMBER', s, fp) == 1 then\n"
    "    out[i] = '0'\n"
    "  else\n"
    "    out[i] = '1'\n"
    "    mine[fp] = true\n"
    "    fresh[#fresh + 1] = s\n"
    "    fresh[#fresh + 1] = fp\n"
    "    if call('RPUSH', q, ARGV[3 * i + 1]) == 1 and\n"
    "        not call('ZSCORE', l, host) then\n"
    "      local v = call('HGET', h, host)\n"
    "      out[i] = v and '3' or '2'\n"
    "      call('ZADD', r, 'LT', v and v:match('^%d+') or 0, host)\n"
    "    end\n"
    "  end\n"
    "end\n"
    "for i = 1, #fresh, 2 do\n"
    "  call('SADD', fresh[i], fresh[i + 1])\n"
    "end\n"
    "local seen = call('HINCRBY', m, 'seen', #fresh / 2)\n"
    "return {n, seen, table.concat(out)}\n"};

/* KEYS: m, s of the bucket to split, s of the new one. ARGV: buckets before.
 * Answers buckets. */
const struct redis_script cluster_script_split = {
    2, "split",
    "#!lua\n"
    "local n = tonumber(redis.call('HGET', KEYS[1], 'buckets') or '1')\n"
    "if n ~= tonumber(ARGV[1]) then return n end\n"
    "local mod = 1\n"
    "while mod <= n do mod = mod * 2 end\n"
    "local step, go = 1e15 % mod, {}\n"
    "for _, fp in ipairs(redis.call('SMEMBERS', KEYS[2])) do\n"
    "  local hi = #fp > 15 and tonumber(fp:sub(1, -16)) or 0\n"
    "  if (hi % mod * step + tonumber(fp:sub(-15)) % mod) % mod == n then\n"
    "    go[#go + 1] = fp\n"
    "  end\n"
    "end\n"
    "for i = 1, #go, 1000 do\n"
    "  local last = math.min(i + 999, #go)\n"
    "  redis.call('SADD', KEYS[3], unpack(go, i, last))\n"
    "  redis.call('SREM', KEYS[2], unpack(go, i, last))\n"
    "end\n"
    "redis.call('HSET', KEYS[1], 'buckets', n + 1)\n"
    "return n + 1\n"};

/* KEYS: r l. ARGV: most. Answers hosts whose lease is over or that are due,
 * behind the ms until others may be; -1: there are none. */
const struct redis_script cluster_script_peek = {
    3, "peek",
    "#!lua flags=no-writes,allow-oom\n" NOW "local out, next = {-1}, nil\n"
    "for _, key in ipairs({KEYS[2], KEYS[1]}) do\n"
    "  local due = redis.call('ZRANGE', key, '-inf', now, 'BYSCORE',\n"
    "    'LIMIT', 0, ARGV[1])\n"
    "  for _, host in ipairs(due) do out[#out + 1] = host end\n"
    "  local e = #due == tonumber(ARGV[1]) and {'', now} or\n"
    "    redis.call('ZRANGE', key, '(' .. now, '+inf', 'BYSCORE',\n"
    "    'LIMIT', 0, 1, 'WITHSCORES')\n"
    "  if e[2] then next = math.min(next or 1e15, tonumber(e[2])) end\n"
    "end\n"
    "if next then out[1] = next - now end\n"
    "return out\n"};

/* KEYS: m r l t h, and for each host q and d. ARGV: the server's run ID, the
 * length of a lease, a pause, most, the worker, and hosts. Answers for each
 * lease host, token, item, PAUSE:TOKEN:DONE:STATE or '', and its delay or '';
 * or {0, run ID} if another server had the shard before; or {1, ms} while the
 * shard is held. A lease that is over is given back, and its host waits for its
 * pause. */
const struct redis_script cluster_script_claim = {
    4, "claim",
    "#!lua flags=allow-oom\n" NOW SCHEDULE
    "local m, r, l, t, h = unpack(KEYS, 1, 5)\n"
    "local s = redis.call('HMGET', m, 'run', 'hold')\n"
    "if s[1] ~= ARGV[1] then return {0, s[1] or ''} end\n"
    "if now < tonumber(s[2] or '0') then return {1, s[2] - now} end\n"
    "local out, most = {}, 5 * tonumber(ARGV[4])\n"
    "local function give_back(host, q, d)\n"
    "  local _, _, item = (redis.call('HGET', t, host) or "
    "''):find('^%d+:(.+)')\n"
    "  local v = redis.call('HGET', h, host) or ''\n"
    "  local pause = tonumber(v:match('^%d+:(%d+)') or ARGV[3])\n"
    "  if item then\n"
    "    local lost = math.min(item:byte(1) + 1, 255)\n"
    "    redis.call('LPUSH', q, string.char(lost) .. item:sub(2))\n"
    "  end\n"
    "  redis.call('HDEL', t, host)\n"
    "  redis.call('HDEL', m, 'by:' .. host)\n"
    "  redis.call('ZREM', l, host)\n"
    "  redis.call('HINCRBY', m, 'expired', 1)\n"
    "  schedule(host, q, d, now + pause)\n"
    "end\n"
    "local function claim(host, q, d)\n"
    "  local v = redis.call('HGET', h, host) or ''\n"
    "  local till, delay, limit = unpack(redis.call('HMGET', m,\n"
    "    'until:' .. host, 'delay:' .. host, 'limit:' .. host))\n"
    "  if till and tonumber(till) > now then\n"
    "    return redis.call('ZADD', r, till, host)\n"
    "  end\n"
    "  if limit and tonumber(v:match('^%d+:%d+:%d+:(%d+)') or 0) >=\n"
    "      tonumber(limit) then\n"
    "    return redis.call('ZADD', r, string.format('%.0f', now + 3e11), "
    "host)\n"
    "  end\n"
    "  if till then redis.call('HDEL', m, 'until:' .. host) end\n"
    "  local item = redis.call('ZRANGE', d, '-inf', now, 'BYSCORE',\n"
    "    'LIMIT', 0, 1)[1]\n"
    "  if item then redis.call('ZREM', d, item)\n"
    "  else item = redis.call('LPOP', q) end\n"
    "  if not item then return schedule(host, q, d, now) end\n"
    "  local token = redis.call('HINCRBY', m, 'token', 1)\n"
    "  redis.call('HSET', t, host, token .. ':' .. item)\n"
    "  redis.call('HSET', m, 'by:' .. host, ARGV[5])\n"
    "  redis.call('ZADD', l, string.format('%.0f', now + ARGV[2]), host)\n"
    "  redis.call('ZREM', r, host)\n"
    "  for _, x in ipairs({host, token, item, v:match('^%d+:(.*)') or '',\n"
    "      delay or ''}) do\n"
    "    out[#out + 1] = x\n"
    "  end\n"
    "end\n"
    "for i = 6, #ARGV do\n"
    "  local host, q, d = ARGV[i], KEYS[2 * i - 6], KEYS[2 * i - 5]\n"
    "  local till = redis.call('ZSCORE', l, host)\n"
    "  local due = redis.call('ZSCORE', r, host)\n"
    "  if till and tonumber(till) <= now then\n"
    "    give_back(host, q, d)\n"
    "  elseif not till and due and tonumber(due) <= now and #out < most then\n"
    "    claim(host, q, d)\n"
    "  end\n"
    "end\n"
    "return out\n"};

/* KEYS: m. ARGV: the server's run ID, the one before, ms to hold the shard. The
 * server may have lost its last writes, and so has to skip the tokens that were
 * given out with them. A longer hold stays. */
const struct redis_script cluster_script_adopt = {
    5, "adopt",
    "#!lua flags=allow-oom\n" NOW
    "if (redis.call('HGET', KEYS[1], 'run') or '') == ARGV[2] then\n"
    "  local till = tonumber(redis.call('HGET', KEYS[1], 'hold') or '0')\n"
    "  redis.call('HSET', KEYS[1], 'run', ARGV[1],\n"
    "    'hold', string.format('%.0f', math.max(till, now + ARGV[3])))\n"
    "  redis.call('HINCRBY', KEYS[1], 'token', 1000000)\n"
    "end\n"
    "return 1\n"};

/* KEYS: m r l t h q d. ARGV: host, token, pause (-1: no request was sent, and
 * the state stays), state, item ('': it is done), delay of the item (-1: to the
 * head of the queue, -2: to its end). Answers 0: the lease was over, nothing is
 * changed; 1: nothing of the host waits; else 2, and the ms until it is due. A
 * repeat of the last acknowledgement answers 1 or more, too. */
const struct redis_script cluster_script_ack = {
    6, "ack",
    "#!lua flags=allow-oom\n" NOW SCHEDULE
    "local m, r, l, t, h, q, d = unpack(KEYS, 1, 7)\n"
    "local host, token, pause = ARGV[1], ARGV[2], tonumber(ARGV[3])\n"
    "local v = redis.call('HGET', h, host) or ''\n"
    "local before, was, last, done =\n"
    "  v:match('^(%d+):(%d+):(%d+):(%d+):')\n"
    "if (redis.call('HGET', t, host) or ''):match('^%d+') ~= token then\n"
    "  return last == token and 2 or 0\n"
    "end\n"
    "local nb, state = tonumber(before or '0'), ARGV[4]\n"
    "if pause >= 0 then\n"
    "  local least = redis.call('HGET', m, 'delay:' .. host)\n"
    "  pause = math.max(pause, tonumber(least or '0'))\n"
    "  nb = now + pause\n"
    "else\n"
    "  pause, state = was or 0, v:match('^%d+:%d+:%d+:%d+:(.*)') or ''\n"
    "end\n"
    "done = tonumber(done or '0') + (ARGV[5] == '' and 1 or 0)\n"
    "redis.call('HDEL', m, 'by:' .. host)\n"
    "redis.call('HDEL', t, host)\n"
    "redis.call('ZREM', l, host)\n"
    "redis.call('HSET', h, host, string.format('%.0f:%.0f:', nb, pause) ..\n"
    "  token .. ':' .. done .. ':' .. state)\n"
    "if ARGV[5] == '' then redis.call('HINCRBY', m, 'done', 1)\n"
    "elseif ARGV[6] == '-1' then redis.call('LPUSH', q, ARGV[5])\n"
    "elseif ARGV[6] == '-2' then redis.call('RPUSH', q, ARGV[5])\n"
    "else redis.call('ZADD', d, string.format('%.0f', now + ARGV[6]), "
    "ARGV[5])\n"
    "end\n"
    "local due = schedule(host, q, d, nb)\n"
    "return due and 2 + math.max(due - now, 0) or 1\n"};

/* KEYS: l t. ARGV: host, token, length. Answers 1; 0: the lease was over. */
const struct redis_script cluster_script_extend = {
    7, "extend",
    "#!lua flags=allow-oom\n" NOW
    "if (redis.call('HGET', KEYS[2], ARGV[1]) or ''):match('^%d+') ~= ARGV[2]\n"
    "  then return 0 end\n"
    "redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3]),\n"
    "  ARGV[1])\n"
    "return 1\n"};

/* KEYS: m l. Answers seen, done, leased, expired, buckets. */
const struct redis_script cluster_script_count = {
    8, "count",
    "#!lua flags=no-writes,allow-oom\n"
    "local v = redis.call('HMGET', KEYS[1], 'seen', 'done', 'expired',\n"
    "  'buckets')\n"
    "return {tonumber(v[1] or '0'), tonumber(v[2] or '0'),\n"
    "  redis.call('ZCARD', KEYS[2]), tonumber(v[3] or '0'),\n"
    "  tonumber(v[4] or '1')}\n"};

/* KEYS: the crawl's hash. All its seeds are in. Answers 1. */
const struct redis_script cluster_script_begun = {
    9, "begun",
    "#!lua flags=allow-oom\n"
    "redis.call('HSET', KEYS[1], 'state', 'begun')\n"
    "return 1\n"};

/* KEYS: the crawl's hash, its places. ARGV: places to add. Answers how many
 * there are now. HSET makes the script write in any case, as put() does. */
const struct redis_script cluster_script_place = {
    10, "place",
    "#!lua\n"
    "for i = 1, #ARGV do\n"
    "  redis.call('ZADD', KEYS[2], 'NX', redis.call('ZCARD', KEYS[2]), "
    "ARGV[i])\n"
    "end\n"
    "local n = redis.call('ZCARD', KEYS[2])\n"
    "redis.call('HSET', KEYS[1], 'places', n)\n"
    "return n\n"};

/* KEYS: places. ARGV: how many are known, how many more are wanted. Answers
 * them, in the order in which they were added. */
const struct redis_script cluster_script_news = {
    11, "news",
    "#!lua flags=no-writes,allow-oom\n"
    "return redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[1] + ARGV[2] - 1)\n"};

/* KEYS: r h. ARGV: least, most. Up to `most` hosts that are not due for `least`
 * ms, since they were given up or have reached their limit, are due as soon as
 * their pauses allow. Answers how many. */
const struct redis_script cluster_script_again = {
    17, "again",
    "#!lua flags=allow-oom\n" NOW
    "local hosts = redis.call('ZRANGE', KEYS[1], now + ARGV[1], '+inf',\n"
    "  'BYSCORE', 'LIMIT', 0, ARGV[2])\n"
    "local at = string.format('%.0f', now)\n"
    "for _, host in ipairs(hosts) do\n"
    "  local nb, rest = (redis.call('HGET', KEYS[2], host) or ''):match(\n"
    "    '^(%d+)(:.*)')\n"
    "  if not nb or tonumber(nb) >= now + ARGV[1] then nb = at end\n"
    "  if rest then redis.call('HSET', KEYS[2], host, nb .. rest) end\n"
    "  redis.call('ZADD', KEYS[1], nb, host)\n"
    "end\n"
    "return #hosts\n"};

const struct redis_script *const cluster_scripts[CLUSTER_SCRIPTS] = {
    &cluster_script_begin,   &cluster_script_put,      &cluster_script_split,
    &cluster_script_peek,    &cluster_script_claim,    &cluster_script_adopt,
    &cluster_script_ack,     &cluster_script_extend,   &cluster_script_count,
    &cluster_script_begun,   &cluster_script_place,    &cluster_script_news,
    &cluster_script_tell,    &cluster_script_leave,    &cluster_script_workers,
    &cluster_script_survey,  &cluster_script_weigh,    &cluster_script_again,
    &cluster_script_set,     &cluster_script_settings, &cluster_script_order,
    &cluster_script_hosts,   &cluster_script_inspect,  &cluster_script_items,
    &cluster_script_buckets, &cluster_script_has,      &cluster_script_settle,
    &cluster_script_correct, &cluster_script_sweep,    &cluster_script_find,
    &cluster_script_block,   &cluster_script_move,     &cluster_script_seek,
    &cluster_script_clear,   &cluster_script_hold,     &cluster_script_queues,
    &cluster_script_queue,   &cluster_script_moved,    &cluster_script_share,
    &cluster_script_robots,  &cluster_script_host,     &cluster_script_permits,
    &cluster_script_sets};
