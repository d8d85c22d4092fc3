/* SPDX-License-Identifier: MIT */
/*
 * cluster_move_scripts.c - scripts that move a whole crawl in or out.
 *
 * cluster_scripts.c says what each key holds. A crawl is moved in while its
 * record says "new", so that nobody leases, and out while its shards are held,
 * so that nobody begins a lease; both may be done again from the beginning.
 */
#include "frontier/cluster_store/cluster_scripts.h"

#define NOW                                                                    \
    "local t = redis.call('TIME')\n"                                           \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/* KEYS: m r h, and for each item q d s. ARGV: the buckets that the caller knows
 * of, ms that a host rests whose first lease was lost, and for each item host,
 * fingerprint, item ('': it is done), ms that it has to wait itself (-1: none),
 * ms that its host has to wait. Answers as put does. */
const struct redis_script cluster_script_move = {
    31, "move",
    "#!lua\n" NOW "local call = redis.call\n"
    "local m, r, h = KEYS[1], KEYS[2], KEYS[3]\n"
    "local n = tonumber(call('HGET', m, 'buckets') or '1')\n"
    "call('HINCRBY', m, 'puts', 1)\n"
    "if n ~= tonumber(ARGV[1]) then return {n} end\n"
    "local out, mine, fresh, done = {}, {}, {}, 0\n"
    "local function rest(host, wait, more)\n"
    "  local v = call('HGET', h, host) or ('0:' .. ARGV[2] .. ':0:0:')\n"
    "  local nb, pause, token, n, state =\n"
    "    v:match('^(%d+):(%d+):(%d+):(%d+):(.*)')\n"
    "  if wait > 0 and nb == '0' then\n"
    "    nb = string.format('%.0f', now + wait)\n"
    "  end\n"
    "  call('HSET', h, host, nb .. ':' .. pause .. ':' .. token .. ':' ..\n"
    "    (n + more) .. ':' .. state)\n"
    "end\n"
    "local function enter(q, d, host, item, delay, wait)\n"
    "  if wait > 0 then rest(host, wait, 0) end\n"
    "  local nb = tonumber((call('HGET', h, host) or '0'):match('^%d+'))\n"
    "  if delay < 0 then call('RPUSH', q, item)\n"
    "  else\n"
    "    call('ZADD', d, string.format('%.0f', now + delay), item)\n"
    "    nb = math.max(nb, now + delay)\n"
    "  end\n"
    "  call('ZADD', r, 'LT', string.format('%.0f', nb), host)\n"
    "end\n"
    "for i = 1, (#ARGV - 2) / 5 do\n"
    "  local q, d, s = unpack(KEYS, 3 * i + 1, 3 * i + 3)\n"
    "  local host, fp, item, delay, wait = unpack(ARGV, 5 * i - 2, 5 * i + 2)\n"
    "  if mine[fp] or call('SISMEMBER', s, fp) == 1 then\n"
    "    out[i] = '0'\n"
    "  else\n"
    "    out[i] = '1'\n"
    "    mine[fp] = true\n"
    "    fresh[#fresh + 1] = s\n"
    "    fresh[#fresh + 1] = fp\n"
    "    if item == '' then\n"
    "      done = done + 1\n"
    "      rest(host, 0, 1)\n"
    "    else enter(q, d, host, item, tonumber(delay), tonumber(wait)) end\n"
    "  end\n"
    "end\n"
    "for i = 1, #fresh, 2 do call('SADD', fresh[i], fresh[i + 1]) end\n"
    "call('HINCRBY', m, 'done', done)\n"
    "local seen = call('HINCRBY', m, 'seen', #fresh / 2)\n"
    "return {n, seen, table.concat(out)}\n"};

/* KEYS: m, and for each fingerprint s. ARGV: the buckets that the caller knows
 * of, fingerprints. Answers as put does, 1: it is not there. */
const struct redis_script cluster_script_seek = {
    32, "seek",
    "#!lua flags=no-writes,allow-oom\n"
    "local v = redis.call('HMGET', KEYS[1], 'buckets', 'seen')\n"
    "local n, out = tonumber(v[1] or '1'), {}\n"
    "if n ~= tonumber(ARGV[1]) then return {n} end\n"
    "for i = 2, #ARGV do\n"
    "  out[i - 1] = 1 - redis.call('SISMEMBER', KEYS[i], ARGV[i])\n"
    "end\n"
    "return {n, tonumber(v[2] or '0'), table.concat(out)}\n"};

/* KEYS: of one shard, to be removed. Answers how many there were. */
const struct redis_script cluster_script_clear = {
    33, "clear",
    "#!lua flags=allow-oom\n"
    "return redis.call('UNLINK', unpack(KEYS))\n"};

/* KEYS: m l. ARGV: ms in which the shard gives out nothing; -1: for good.
 * Answers the ms until its last lease is over, 0: there is none. */
const struct redis_script cluster_script_hold = {
    34, "hold",
    "#!lua flags=allow-oom\n" NOW
    "local till = tonumber(redis.call('HGET', KEYS[1], 'hold') or '0')\n"
    "local to = tonumber(ARGV[1]) < 0 and 4e15 or now + ARGV[1]\n"
    "if to > till then\n"
    "  redis.call('HSET', KEYS[1], 'hold', string.format('%.0f', to))\n"
    "end\n"
    "local e = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')\n"
    "return e[2] and math.max(e[2] - now, 0) or 0\n"};

/* KEYS: r or l. ARGV: a cursor of ZSCAN. Answers the next one, and hosts; a
 * host may come twice. */
const struct redis_script cluster_script_queues = {
    35, "queues",
    "#!lua flags=no-writes,allow-oom\n"
    "local v = redis.call('ZSCAN', KEYS[1], ARGV[1], 'COUNT', 100)\n"
    "local out = {v[1]}\n"
    "for i = 1, #v[2], 2 do out[#out + 1] = v[2][i] end\n"
    "return out\n"};

/* KEYS: t h q d. ARGV: host, from which item on, how many. Answers the ms that
 * the host has to wait, and for each item its own ms, -1: none, and the item.
 * The item of a lease comes first; then those with a time of their own, then
 * the others. Those of a held shard do not change their places. */
const struct redis_script cluster_script_queue = {
    36, "queue",
    "#!lua flags=no-writes,allow-oom\n" NOW
    "local host, from, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])\n"
    "local v = redis.call('HGET', KEYS[2], host) or '0'\n"
    "local out = {math.max(tonumber(v:match('^%d+')) - now, 0)}\n"
    "local function add(ms, item)\n"
    "  out[#out + 1] = ms\n"
    "  out[#out + 1] = item\n"
    "  most = most - 1\n"
    "end\n"
    "local _, _, item = (redis.call('HGET', KEYS[1], host) or ''):find("
    "'^%d+:(.+)')\n"
    "if item and from == 0 then add(-1, item) end\n"
    "local at = math.max(from - (item and 1 or 0), 0)\n"
    "local dated = redis.call('ZCARD', KEYS[4])\n"
    "if most > 0 and at < dated then\n"
    "  local e = redis.call('ZRANGE', KEYS[4], at, at + most - 1, "
    "'WITHSCORES')\n"
    "  for i = 1, #e, 2 do add(math.max(e[i + 1] - now, 0), e[i]) end\n"
    "  at = dated\n"
    "end\n"
    "if most > 0 then\n"
    "  at = at - dated\n"
    "  for _, x in ipairs(redis.call('LRANGE', KEYS[3], at, at + most - 1)) "
    "do\n"
    "    add(-1, x)\n"
    "  end\n"
    "end\n"
    "return out\n"};

/* KEYS: m h. ARGV: a cursor of HSCAN. Answers the next one, and for each
 * setting of a host 'until', 'delay' or 'limit', the host, the value (of until
 * the ms that are left), and how many URLs of the host are done; one may come
 * twice. */
const struct redis_script cluster_script_sets = {
    42, "sets",
    "#!lua flags=no-writes,allow-oom\n" NOW
    "local v = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', 200)\n"
    "local out = {v[1]}\n"
    "for i = 1, #v[2], 2 do\n"
    "  local what, host = v[2][i]:match('^(%l+):(.+)')\n"
    "  local n = tonumber(v[2][i + 1])\n"
    "  if what == 'until' and n then n = math.max(n - now, 0) end\n"
    "  if n and (what == 'until' or what == 'delay' or what == 'limit') then\n"
    "    local h = redis.call('HGET', KEYS[2], host) or ''\n"
    "    for _, x in ipairs({what, host, n,\n"
    "        tonumber(h:match('^%d+:%d+:%d+:(%d+)') or 0)}) do\n"
    "      out[#out + 1] = x\n"
    "    end\n"
    "  end\n"
    "end\n"
    "return out\n"};

/* KEYS: the crawl's hash. ARGV: a mark of the directory where the crawl is now.
 * Answers 1; 0: it went to another one. */
const struct redis_script cluster_script_moved = {
    37, "moved",
    "#!lua flags=allow-oom\n"
    "local v = redis.call('HMGET', KEYS[1], 'state', 'to')\n"
    "if v[1] == 'moved' and v[2] ~= ARGV[1] then return 0 end\n"
    "redis.call('HSET', KEYS[1], 'state', 'moved', 'to', ARGV[1])\n"
    "return 1\n"};
