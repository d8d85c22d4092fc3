/* SPDX-License-Identifier: MIT */
/*
 * cluster_verify_scripts.c - what the servers of a cluster run to check the
 * state of a crawl (cluster_verify.h), and to mend it.
 *
 * cluster_scripts.c says what each key holds. All but `settle` and `correct`
 * only read.
 */
#include "frontier/cluster_store/cluster_scripts.h"

#define NOW                                                                    \
    "local t = redis.call('TIME')\n"                                           \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/* KEYS: r l t h. ARGV: which of them, cursor, about how many. Answers the next
 * cursor (0: that was all), and hosts that are in none of the keys before. */
const struct redis_script cluster_script_hosts = {
    21, "hosts",
    "#!lua flags=no-writes,allow-oom\n"
    "local which, out = tonumber(ARGV[1]), {}\n"
    "local c = redis.call(which < 3 and 'ZSCAN' or 'HSCAN', KEYS[which],\n"
    "  ARGV[2], 'COUNT', ARGV[3])\n"
    "out[1] = c[1]\n"
    "for i = 1, #c[2], 2 do\n"
    "  local host = c[2][i]\n"
    "  local listed = which > 1 and redis.call('ZSCORE', KEYS[1], host) or\n"
    "    which > 2 and redis.call('ZSCORE', KEYS[2], host) or\n"
    "    which > 3 and redis.call('HEXISTS', KEYS[3], host) == 1\n"
    "  if not listed then\n"
    "    out[#out + 1] = host\n"
    "  end\n"
    "end\n"
    "return out\n"};

/* KEYS: r l t h, and for each host q and d. ARGV: hosts. Answers for each 1 if
 * it is due, 1 if it is leased, 1 if it was ever acknowledged, the lengths of q
 * and d, and its TOKEN:ITEM or ''. */
const struct redis_script cluster_script_inspect = {
    22, "inspect",
    "#!lua flags=no-writes,allow-oom\n"
    "local out = {}\n"
    "for i, host in ipairs(ARGV) do\n"
    "  local n = #out\n"
    "  out[n + 1] = redis.call('ZSCORE', KEYS[1], host) and 1 or 0\n"
    "  out[n + 2] = redis.call('ZSCORE', KEYS[2], host) and 1 or 0\n"
    "  out[n + 3] = redis.call('HEXISTS', KEYS[4], host)\n"
    "  out[n + 4] = redis.call('LLEN', KEYS[2 * i + 3])\n"
    "  out[n + 5] = redis.call('ZCARD', KEYS[2 * i + 4])\n"
    "  out[n + 6] = redis.call('HGET', KEYS[3], host) or ''\n"
    "end\n"
    "return out\n"};

/* KEYS: q d. ARGV: first, last. Answers that part of the items of q and d, d's
 * after q's. */
const struct redis_script cluster_script_items = {
    23, "items",
    "#!lua flags=no-writes,allow-oom\n"
    "local n = redis.call('LLEN', KEYS[1])\n"
    "local from, to = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
    "local out = redis.call('LRANGE', KEYS[1], from, to)\n"
    "if to >= n then\n"
    "  for _, x in ipairs(redis.call('ZRANGE', KEYS[2], math.max(from - n, "
    "0),\n"
    "      to - n)) do out[#out + 1] = x end\n"
    "end\n"
    "return out\n"};

/* KEYS: buckets from one on. ARGV: buckets in all, the first one of these, most
 * fingerprints. Answers for each its size, and then up to `most` fingerprints
 * that are not where they belong, each after the number of its bucket. */
const struct redis_script cluster_script_buckets = {
    24, "buckets",
    "#!lua flags=no-writes,allow-oom\n"
    "local n, first = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
    "local most, out, bad = 2 * tonumber(ARGV[3]), {}, {}\n"
    "local mod = 2\n"
    "while mod <= n do mod = mod * 2 end\n"
    "local function rest(fp, m)\n"
    "  local hi = #fp > 15 and tonumber(fp:sub(1, -16)) or 0\n"
    "  return (hi % m * (1e15 % m) + tonumber(fp:sub(-15)) % m) % m\n"
    "end\n"
    "for i, key in ipairs(KEYS) do\n"
    "  out[i] = redis.call('SCARD', key)\n"
    "  for _, fp in ipairs(redis.call('SMEMBERS', key)) do\n"
    "    local ok, b = fp:match('^%d+$') and #fp < 20, nil\n"
    "    if ok then\n"
    "      b = rest(fp, mod)\n"
    "      if b >= n then b = rest(fp, mod / 2) end\n"
    "    end\n"
    "    if b ~= first + i - 1 and #bad < most then\n"
    "      bad[#bad + 1] = first + i - 1\n"
    "      bad[#bad + 1] = fp\n"
    "    end\n"
    "  end\n"
    "end\n"
    "for _, x in ipairs(bad) do out[#out + 1] = x end\n"
    "return out\n"};

/* KEYS: the bucket of each fingerprint. ARGV: fingerprints. Answers a digit for
 * each, 1: it is there. */
const struct redis_script cluster_script_has = {
    25, "has",
    "#!lua flags=no-writes,allow-oom\n"
    "local out = {}\n"
    "for i, fp in ipairs(ARGV) do\n"
    "  out[i] = redis.call('SISMEMBER', KEYS[i], fp)\n"
    "end\n"
    "return table.concat(out)\n"};

/* KEYS: r l t h q d. ARGV: host. Puts it where it belongs: a lease has a URL
 * and an end, or is none; a host with URLs that is not leased is due. Answers
 * 1. */
const struct redis_script cluster_script_settle = {
    26, "settle",
    "#!lua flags=allow-oom\n" NOW "local r, l, t, h, q, d = unpack(KEYS)\n"
    "local host = ARGV[1]\n"
    "local till = redis.call('ZSCORE', l, host)\n"
    "local item = redis.call('HGET', t, host)\n"
    "if till and item then\n"
    "  redis.call('ZREM', r, host)\n"
    "  return 1\n"
    "end\n"
    "if till then redis.call('ZREM', l, host) end\n"
    "if item then\n"
    "  local text = item:match('^%d+:(.+)')\n"
    "  if text then redis.call('LPUSH', q, text) end\n"
    "  redis.call('HDEL', t, host)\n"
    "end\n"
    "if redis.call('LLEN', q) + redis.call('ZCARD', d) == 0 then\n"
    "  redis.call('ZREM', r, host)\n"
    "elseif not redis.call('ZSCORE', r, host) then\n"
    "  local v = redis.call('HGET', h, host)\n"
    "  redis.call('ZADD', r, v and v:match('^%d+') or\n"
    "    string.format('%.0f', now), host)\n"
    "end\n"
    "return 1\n"};

/* KEYS: one, or two. ARGV: what, value. `seen`: the fingerprint is added to the
 * set. `move`: from the first set to the second. `drop`: the item is taken out
 * of the list, or of the sorted set, once, from its end. `seen count`, `done
 * count`: the field of the hash is set. Answers 1. */
const struct redis_script cluster_script_correct = {
    27, "correct",
    "#!lua flags=allow-oom\n"
    "local what, value = ARGV[1], ARGV[2]\n"
    "if what == 'seen' then redis.call('SADD', KEYS[1], value)\n"
    "elseif what == 'move' then\n"
    "  redis.call('SADD', KEYS[2], value)\n"
    "  redis.call('SREM', KEYS[1], value)\n"
    "elseif what == 'drop' then\n"
    "  if redis.call('LREM', KEYS[1], -1, value) == 0 then\n"
    "    redis.call('ZREM', KEYS[2], value)\n"
    "  end\n"
    "elseif what == 'seen count' then\n"
    "  redis.call('HSET', KEYS[1], 'seen', value)\n"
    "elseif what == 'done count' then\n"
    "  redis.call('HSET', KEYS[1], 'done', value)\n"
    "end\n"
    "return 1\n"};

/* KEYS: any of the shard. ARGV: the server's run ID, cursor, pattern. Answers
 * the run ID, the next cursor (0: that was all), and keys of this server,
 * whatever their slot. */
const struct redis_script cluster_script_sweep = {
    28, "sweep",
    "#!lua flags=no-writes,allow-oom\n"
    "local c = redis.call('SCAN', ARGV[2], 'MATCH', ARGV[3], 'COUNT', 1000)\n"
    "local out = {ARGV[1], c[1]}\n"
    "for _, key in ipairs(c[2]) do out[#out + 1] = key end\n"
    "return out\n"};
