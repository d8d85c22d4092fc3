/* SPDX-License-Identifier: MIT */
/*
 * cluster_steer_scripts.c - what the servers of a cluster run for people who
 * steer a crawl.
 *
 * Fields of the crawl's hash beside those of cluster_record.c: version, of the
 * settings; paused, 0 or 1; stop, a random word of the last stop.
 */
#include "frontier/cluster/cluster_scripts.h"

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
