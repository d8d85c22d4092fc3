/* SPDX-License-Identifier: MIT */
/*
 * cluster_steer_scripts.c - what the servers of a cluster run for people who
 * steer a crawl.
 *
 * Fields of the crawl's hash beside those of cluster_record.c: version, of the
 * settings; paused, 0 or 1; stop, a random word of the last stop.
 */
#include "frontier/cluster_store/cluster_scripts.h"

/* KEYS: the crawl's hash. ARGV: the version that was changed, new settings.
 * Answers the version that these have now; 0: there are others meanwhile. */
const struct redis_script cluster_script_set = {
    18, "set",
    "#!lua flags=allow-oom\n"
    "local v = redis.call('HMGET', KEYS[1], 'version', 'settings')\n"
    "local now = tonumber(v[1] or '1')\n"
    "if v[2] == ARGV[2] then return now end\n"
    "if not v[2] or now ~= tonumber(ARGV[1]) then return 0 end\n"
    "redis.call('HSET', KEYS[1], 'settings', ARGV[2],\n"
    "  'version', string.format('%.0f', now + 1))\n"
    "return now + 1\n"};

/* KEYS: the crawl's hash. Answers the version of the settings, and them. */
const struct redis_script cluster_script_settings = {
    19, "settings",
    "#!lua flags=no-writes,allow-oom\n"
    "local v = redis.call('HMGET', KEYS[1], 'version', 'settings')\n"
    "return {tonumber(v[1] or '1'), v[2] or ''}\n"};

/* KEYS: the crawl's hash. ARGV: field, value. Answers 1; 0: there is no such
 * crawl. */
const struct redis_script cluster_script_order = {
    20, "order",
    "#!lua flags=allow-oom\n"
    "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end\n"
    "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])\n"
    "return 1\n"};

/* KEYS: m r l t q d s. ARGV: host, fingerprint, URL, most places to look at,
 * the buckets that the caller knows of, the rest of the URL that an item
 * without its host has (cluster_item.h). Answers buckets alone, if there are
 * others; or buckets, 1 if it is seen, the ms until the lease of the host is
 * over (-1: none), its item, its worker, the ms until the host is due (-1: it
 * is not among those that wait), the length of its queue; then items that may
 * be the URL: place (or -1 less the ms until it is due), item. */
const struct redis_script cluster_script_find = {
    29, "find",
    "#!lua flags=no-writes,allow-oom\n"
    "local time = redis.call('TIME')\n"
    "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
    "local m, r, l, t, q, d, s = unpack(KEYS)\n"
    "local host, url = ARGV[1], ARGV[3]\n"
    "local n = tonumber(redis.call('HGET', m, 'buckets') or '1')\n"
    "if n ~= tonumber(ARGV[5]) then return {n} end\n"
    "local till = redis.call('ZSCORE', l, host)\n"
    "local due = redis.call('ZSCORE', r, host)\n"
    "local _, _, item = (redis.call('HGET', t, host) or ''):find('^%d+:(.+)')\n"
    "local out = {n, redis.call('SISMEMBER', s, ARGV[2]),\n"
    "  till and math.max(till - now, 0) or -1, item or '',\n"
    "  redis.call('HGET', m, 'by:' .. host) or '',\n"
    "  due and math.max(due - now, 0) or -1, redis.call('LLEN', q)}\n"
    "local function add(place, text)\n"
    "  local rest = text:byte(2) == 2 and text:match('^....' ..\n"
    "    ('[\\128-\\255]*.'):rep(3) .. '(.*)$')\n"
    "  if (rest == ARGV[6] or text:sub(-#url) == url) and #out < 50 then\n"
    "    out[#out + 1] = place\n"
    "    out[#out + 1] = text\n"
    "  end\n"
    "end\n"
    "for at = 0, ARGV[4] - 1, 1000 do\n"
    "  local some = redis.call('LRANGE', q, at, at + 999)\n"
    "  for i = 1, #some do add(at + i - 1, some[i]) end\n"
    "  if #some < 1000 then break end\n"
    "end\n"
    "local some = redis.call('ZRANGE', d, 0, 999, 'WITHSCORES')\n"
    "for i = 1, #some, 2 do\n"
    "  add(-1 - math.max(some[i + 1] - now, 0), some[i])\n"
    "end\n"
    "return out\n"};

/* KEYS: m r h. ARGV: host, ms; 0: it is blocked no longer. A claim heeds it
 * (cluster_scripts.c). Answers 1. */
const struct redis_script cluster_script_block = {
    30, "block",
    "#!lua flags=allow-oom\n"
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "local field = 'until:' .. ARGV[1]\n"
    "if ARGV[2] ~= '0' then\n"
    "  redis.call('HSET', KEYS[1], field, string.format('%.0f', now + "
    "ARGV[2]))\n"
    "  return 1\n"
    "end\n"
    "redis.call('HDEL', KEYS[1], field)\n"
    "local v = redis.call('HGET', KEYS[3], ARGV[1])\n"
    "redis.call('ZADD', KEYS[2], 'XX', v and v:match('^%d+') or 0, ARGV[1])\n"
    "return 1\n"};

/* KEYS: m r h. ARGV: host, 'delay' or 'limit', its value ('': none), the delay
 * of hosts without one. Answers 1. A claim heeds it, and an acknowledgement the
 * delay (cluster_scripts.c). The pause that runs now is made as long as the
 * delay; a longer one, which has another reason, stays. */
const struct redis_script cluster_script_host = {
    40, "host",
    "#!lua flags=allow-oom\n"
    "local m, r, h = unpack(KEYS)\n"
    "local host, field, value = ARGV[1], ARGV[2] .. ':' .. ARGV[1], ARGV[3]\n"
    "local was = tonumber(redis.call('HGET', m, field) or ARGV[4])\n"
    "if value == '' then redis.call('HDEL', m, field)\n"
    "else redis.call('HSET', m, field, value) end\n"
    "local v = redis.call('HGET', h, host) or ''\n"
    "local nb, pause, rest = v:match('^(%d+):(%d+)(:.*)')\n"
    "if ARGV[2] == 'limit' then\n"
    "  redis.call('ZADD', r, 'XX', nb or 0, host)\n"
    "  return 1\n"
    "end\n"
    "local delay = tonumber(value == '' and ARGV[4] or value)\n"
    "if not nb then return 1 end\n"
    "nb, pause = tonumber(nb), tonumber(pause)\n"
    "local to = pause <= was and delay or math.max(pause, delay)\n"
    "local due, at = redis.call('ZSCORE', r, host), nb - pause + to\n"
    "redis.call('HSET', h, host, string.format('%.0f:%.0f', at, to) .. rest)\n"
    "if due then\n"
    "  if tonumber(due) > nb then at = math.max(at, tonumber(due)) end\n"
    "  redis.call('ZADD', r, string.format('%.0f', at), host)\n"
    "end\n"
    "return 1\n"};
