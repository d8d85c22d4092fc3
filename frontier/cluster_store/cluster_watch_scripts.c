/* SPDX-License-Identifier: MIT */
/*
 * cluster_watch_scripts.c - what the servers of a cluster run for people who
 * watch a crawl.
 *
 * Further keys of crawl NAME (the others are in cluster_scripts.c):
 *
 *   {NAME}a   sorted set: worker -> when it was heard last
 *   {NAME}w   hash: worker -> what it said of itself
 *
 * All but `tell` and `leave` only read.
 */
#include "frontier/cluster_store/cluster_scripts.h"

/* KEYS: the crawl's hash, a, w. ARGV: worker, what it says. Forgets workers
 * that were not heard for an hour. Answers the version of the settings, paused,
 * stop (cluster_steer_scripts.c), and the worker's place, from 0, among how
 * many that were heard lately; nothing: the crawl is gone. */
const struct redis_script cluster_script_tell = {
    12, "tell",
    "#!lua flags=allow-oom\n"
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "if redis.call('EXISTS', KEYS[1]) == 0 then return {} end\n"
    "redis.call('ZADD', KEYS[2], string.format('%.0f', now), ARGV[1])\n"
    "redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])\n"
    "for _, id in ipairs(redis.call('ZRANGE', KEYS[2], '-inf',\n"
    "    string.format('%.0f', now - 3600000), 'BYSCORE', 'LIMIT', 0, 16)) do\n"
    "  redis.call('ZREM', KEYS[2], id)\n"
    "  redis.call('HDEL', KEYS[3], id)\n"
    "end\n"
    "local v = redis.call('HMGET', KEYS[1], 'version', 'paused', 'stop')\n"
    "local alive, place = redis.call('ZRANGE', KEYS[2], string.format('%.0f',\n"
    "  now - 15000), '+inf', 'BYSCORE'), 0\n"
    "for _, id in ipairs(alive) do\n"
    "  if id < ARGV[1] then place = place + 1 end\n"
    "end\n"
    "return {tonumber(v[1] or '1'), tonumber(v[2] or '0'), v[3] or '', place,\n"
    "  #alive}\n"};

/* KEYS: a, w. ARGV: worker. Answers 1. */
const struct redis_script cluster_script_leave = {
    13, "leave",
    "#!lua flags=allow-oom\n"
    "redis.call('ZREM', KEYS[1], ARGV[1])\n"
    "redis.call('HDEL', KEYS[2], ARGV[1])\n"
    "return 1\n"};

/* KEYS: a, w. ARGV: most. Answers for each worker its name, the ms since it was
 * heard, and what it said; the ones that were heard last first. */
const struct redis_script cluster_script_workers = {
    14, "workers",
    "#!lua flags=no-writes,allow-oom\n"
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "local a, out = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'REV',\n"
    "  'WITHSCORES'), {}\n"
    "for i = 1, #a, 2 do\n"
    "  out[#out + 1] = a[i]\n"
    "  out[#out + 1] = math.max(now - a[i + 1], 0)\n"
    "  out[#out + 1] = redis.call('HGET', KEYS[2], a[i]) or ''\n"
    "end\n"
    "return out\n"};

/* KEYS: m r l. Answers seen, done, leased, expired, hosts with waiting URLs,
 * buckets. */
const struct redis_script cluster_script_survey = {
    15, "survey",
    "#!lua flags=no-writes,allow-oom\n"
    "local v = redis.call('HMGET', KEYS[1], 'seen', 'done', 'expired',\n"
    "  'buckets')\n"
    "return {tonumber(v[1] or '0'), tonumber(v[2] or '0'),\n"
    "  redis.call('ZCARD', KEYS[3]), tonumber(v[3] or '0'),\n"
    "  redis.call('ZCARD', KEYS[2]), tonumber(v[4] or '1')}\n"};

/* KEYS: r, and the keys to weigh. ARGV: most hosts. Answers the octets of each
 * key, and then some hosts with waiting URLs. */
const struct redis_script cluster_script_weigh = {
    16, "weigh",
    "#!lua flags=no-writes,allow-oom\n"
    "local out = {}\n"
    "for i = 2, #KEYS do\n"
    "  out[#out + 1] = redis.call('MEMORY', 'USAGE', KEYS[i]) or 0\n"
    "end\n"
    "for _, host in ipairs(redis.call('ZRANDMEMBER', KEYS[1], ARGV[1])) do\n"
    "  out[#out + 1] = host\n"
    "end\n"
    "return out\n"};
