/* SPDX-License-Identifier: MIT */
/*
 * cluster_robots_scripts.c - what the servers of a cluster run to share
 * robots.txt.
 *
 * One more key of shard 23 of crawl NAME, which the server forgets by itself:
 *
 *   {NAME:17}b:HOST  hash: origin -> EXPIRES:FETCHED:SINCE:STATUS:BODY, three
 *                    times of the server (since it was unreachable, 0: it was
 *                    not), and a body as cluster_robots.c packs it
 */
#include "frontier/cluster_store/cluster_scripts.h"

#define NOW                                                                    \
    "local t = redis.call('TIME')\n"                                           \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/* KEYS: b. ARGV: origin, ms since it was fetched, until it is stale, since it
 * was unreachable first (-1: it was not), HTTP status, body. Answers 1; 0: what
 * is there is newer, or of too many origins. */
const struct redis_script cluster_script_share = {
    38, "share",
    "#!lua\n" NOW "local b, call = KEYS[1], redis.call\n"
    "local fetched, life = now - ARGV[2], tonumber(ARGV[3])\n"
    "local v = call('HGET', b, ARGV[1])\n"
    "if v and tonumber(v:match('^%d+:(%d+)') or 0) > fetched then\n"
    "  return 0\n"
    "end\n"
    "if not v and call('HLEN', b) >= 8 then\n"
    "  for _, o in ipairs(call('HKEYS', b)) do\n"
    "    local e = tonumber(call('HGET', b, o):match('^%d+') or 0)\n"
    "    if e <= now then call('HDEL', b, o) end\n"
    "  end\n"
    "  if call('HLEN', b) >= 8 then return 0 end\n"
    "end\n"
    "local since = ARGV[4] == '-1' and 0 or now - ARGV[4]\n"
    "local ttl = math.max(call('PTTL', b), life)\n"
    "call('HSET', b, ARGV[1], string.format('%.0f:%.0f:%.0f:', now + life,\n"
    "  fetched, since) .. ARGV[5] .. ':' .. ARGV[6])\n"
    "call('PEXPIRE', b, string.format('%.0f', ttl))\n"
    "return 1\n"};

/* KEYS: b. ARGV: origin. Answers the ms until it is stale, since it was
 * fetched, since it was unreachable first (-1: it was not), HTTP status, body;
 * nothing: there is none, or it is stale. */
const struct redis_script cluster_script_robots = {
    39, "robots",
    "#!lua flags=no-writes,allow-oom\n" NOW
    "local v = redis.call('HGET', KEYS[1], ARGV[1]) or ''\n"
    "local _, at, expires, fetched, since, status =\n"
    "  v:find('^(%d+):(%d+):(%d+):(%d+):')\n"
    "if not at or tonumber(expires) <= now then return {} end\n"
    "return {expires - now, math.max(now - fetched, 0),\n"
    "  since == '0' and -1 or math.max(now - since, 0), tonumber(status),\n"
    "  v:sub(at + 1)}\n"};
