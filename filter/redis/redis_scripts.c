/* SPDX-License-Identifier: MIT */
/*
 * redis_scripts.c - what a Redis server does for a shared Bloom filter, in Lua.
 *
 * One BITFIELD command a key sets k bits, wherever they are, and returns their
 * old values, so that both layouts share the scripts. SETBIT for each bit would
 * take k commands a key. Constants are strings from the start: the server
 * formats each number it is passed, at a fifth of the call's cost.
 */
#include "filter/redis/redis_scripts.h"

/* Is the filter the one the caller knows? An empty epoch means another
 * program's bitmap, which has no record. */
#define KNOWN                                                                  \
    "local m = redis.call('HMGET', KEYS[2], 'epoch', 'bytes', 'gen')\n"        \
    "if ARGV[1] == '' then\n"                                                  \
    "  if redis.call('EXISTS', KEYS[1]) == 0 then return 'LOST' end\n"         \
    "elseif m[1] ~= ARGV[1] or\n"                                              \
    "    redis.call('STRLEN', KEYS[1]) ~= (tonumber(m[2]) or -1) then\n"       \
    "  return 'LOST'\n"                                                        \
    "end\n"

#define CURRENT                                                                \
    KNOWN "if ARGV[1] ~= '' and m[3] ~= ARGV[2] then return 'STALE' end\n"

/* Set the bits of each key. Gives "1" for each key that had a bit not set yet,
 * their number, and the number of bits that were not set. */
#define PUT                                                                    \
    "local function put(key, k, offsets)\n"                                    \
    "  local cmd, out, bits = {'BITFIELD', key}, {}, 0\n"                      \
    "  local fmt = '>' .. string.rep('I4', k)\n"                               \
    "  for j = 1, k do\n"                                                      \
    "    cmd[4*j-1], cmd[4*j], cmd[4*j+2] = 'SET', 'u1', '1'\n"                \
    "  end\n"                                                                  \
    "  for at = 1, #offsets, 4 * k do\n"                                       \
    "    local bit, fresh = {struct.unpack(fmt, offsets, at)}, '0'\n"          \
    "    for j = 1, k do cmd[4*j+1] = bit[j] end\n"                            \
    "    local old = redis.call(unpack(cmd))\n"                                \
    "    for j = 1, k do bits = bits + 1 - old[j] end\n"                       \
    "    for j = 1, k do if old[j] == 0 then fresh = '1' end end\n"            \
    "    out[#out+1] = fresh\n"                                                \
    "  end\n"                                                                  \
    "  local all = table.concat(out)\n"                                        \
    "  local _, n = string.gsub(all, '1', '')\n"                               \
    "  return all, n, bits\n"                                                  \
    "end\n"

/* Room for so many octets of zero bits under a name. A long string is not made
 * here, as the server would stand still meanwhile: it must have been grown in
 * pieces under KEYS[4]. A reply of GROW tells the caller to do that first. */
#define ROOM                                                                   \
    "local function lacks_room(bytes)\n"                                       \
    "  return bytes > 1048576 and redis.call('STRLEN', KEYS[4]) ~= bytes\n"    \
    "end\n"                                                                    \
    "local function make_room(key, bytes)\n"                                   \
    "  redis.call('UNLINK', key)\n"                                            \
    "  if bytes > 1048576 then\n"                                              \
    "    redis.call('RENAME', KEYS[4], key)\n"                                 \
    "    redis.call('PERSIST', key)\n"                                         \
    "  else\n"                                                                 \
    "    redis.call('SETRANGE', key, bytes - 1, '\\0')\n"                      \
    "  end\n"                                                                  \
    "end\n"

/* Is this rebuild the caller's? */
#define REBUILDING                                                             \
    KNOWN                                                                      \
    "local r = redis.call('HMGET', KEYS[2], 'next_token', 'next_bytes')\n"     \
    "if r[1] ~= ARGV[2] or\n"                                                  \
    "    redis.call('STRLEN', KEYS[3]) < (tonumber(r[2]) or 0) then\n"         \
    "  return 'GONE'\n"                                                        \
    "end\n"

#define FORGET_NEXT                                                            \
    "redis.call('HDEL', KEYS[2], 'next_token', 'next_bytes', 'next_bits',\n"   \
    "  'next_k', 'next_expect', 'next_fpr', 'next_count', 'next_set')\n"

/* A rebuild that gets no keys for so long is abandoned, and its bits go. */
#define REBUILD_MS "3600000"

const struct redis_script redis_script_open = {
    0, "open",
    ROOM
    "local m = redis.call('HGETALL', KEYS[2])\n"
    "if #m > 0 then\n"
    "  local bytes = tonumber(redis.call('HGET', KEYS[2], 'bytes'))\n"
    "  if not bytes then return 'TAKEN' end\n"
    "  if redis.call('STRLEN', KEYS[1]) == bytes and\n"
    "      redis.call('HGET', KEYS[2], 'epoch') ~= '' then\n"
    "    if ARGV[1] == 'new' then return 'TAKEN' end\n"
    "    if ARGV[1] ~= 'open' then redis.call('UNLINK', KEYS[4]) end\n"
    "    return m\n"
    "  end\n"
    "elseif ARGV[1] ~= 'again' and redis.call('EXISTS', KEYS[1]) == 1 then\n"
    "  if ARGV[1] == 'open' then return 'FOREIGN' end\n"
    "  return 'TAKEN'\n"
    "end\n"
    "if ARGV[1] == 'open' then return 'NONE' end\n"
    "local bytes = math.ceil(tonumber(ARGV[2]) / 8)\n"
    "if lacks_room(bytes) then return 'GROW' end\n"
    "redis.call('UNLINK', KEYS[2], KEYS[3])\n"
    "make_room(KEYS[1], bytes)\n"
    "redis.call('HSET', KEYS[2], unpack(ARGV, 4))\n"
    "if tonumber(ARGV[3]) > 0 then\n"
    "  redis.call('PEXPIRE', KEYS[1], ARGV[3])\n"
    "  redis.call('PEXPIRE', KEYS[2], ARGV[3])\n"
    "end\n"
    "return redis.call('HGETALL', KEYS[2])\n"};

const struct redis_script redis_script_add = {
    1, "add",
    CURRENT PUT
    "if ARGV[3] ~= '' then\n"
    "  local last = redis.call('GET', KEYS[4])\n"
    "  if last and string.sub(last, 1, #ARGV[3]) == ARGV[3] then\n"
    "    return {0, 0, 0, string.sub(last, #ARGV[3] + 1)}\n"
    "  end\n"
    "end\n"
    "local fresh, n, bits = put(KEYS[1], tonumber(ARGV[4]), ARGV[5])\n"
    "local batches, count, set = 0, 0, 0\n"
    "if ARGV[1] ~= '' then\n"
    "  batches = redis.call('HINCRBY', KEYS[2], 'adds', 1)\n"
    "  count = redis.call('HINCRBY', KEYS[2], 'count', n)\n"
    "  set = redis.call('HINCRBY', KEYS[2], 'set', bits)\n"
    "end\n"
    "if ARGV[6] ~= '' then\n"
    "  local bytes = tonumber(redis.call('HGET', KEYS[2], 'next_bytes'))\n"
    "  if bytes and redis.call('STRLEN', KEYS[3]) >= bytes then\n"
    "    local _, more, b = put(KEYS[3], tonumber(ARGV[7]), ARGV[6])\n"
    "    redis.call('HINCRBY', KEYS[2], 'next_count', more)\n"
    "    redis.call('HINCRBY', KEYS[2], 'next_set', b)\n"
    "  elseif bytes then\n" /* abandoned */
    "    " FORGET_NEXT "    redis.call('HINCRBY', KEYS[2], 'gen', 1)\n"
    "  end\n"
    "end\n"
    "if ARGV[3] ~= '' then\n"
    "  redis.call('SET', KEYS[4], ARGV[3] .. fresh, 'EX', 600)\n"
    "end\n"
    "return {batches, count, set, fresh}\n"};

const struct redis_script redis_script_check = {
    2, "check",
    CURRENT
    "local k, cmd, out = tonumber(ARGV[3]), {'BITFIELD_RO', KEYS[1]}, {}\n"
    "local fmt = '>' .. string.rep('I4', k)\n"
    "for j = 1, k do cmd[3*j], cmd[3*j+1] = 'GET', 'u1' end\n"
    "for at = 1, #ARGV[4], 4 * k do\n"
    "  local bit, all = {struct.unpack(fmt, ARGV[4], at)}, '1'\n"
    "  for j = 1, k do cmd[3*j+2] = bit[j] end\n"
    "  local set = redis.call(unpack(cmd))\n"
    "  for j = 1, k do if set[j] == 0 then all = '0' end end\n"
    "  out[#out+1] = all\n"
    "end\n"
    "return {table.concat(out)}\n"};

const struct redis_script redis_script_begin = {
    3, "begin",
    KNOWN ROOM
    "local bytes = math.ceil(tonumber(ARGV[3]) / 8)\n"
    "if lacks_room(bytes) then return 'GROW' end\n"
    "make_room(KEYS[3], bytes)\n"
    "redis.call('PEXPIRE', KEYS[3], " REBUILD_MS ")\n"
    "redis.call('HSET', KEYS[2], 'next_token', ARGV[2], 'next_bits', ARGV[3],\n"
    "  'next_count', 0, 'next_set', 0, unpack(ARGV, 4))\n"
    "redis.call('HINCRBY', KEYS[2], 'gen', 1)\n"
    "return redis.call('HGETALL', KEYS[2])\n"};

const struct redis_script redis_script_fill = {
    4, "fill",
    REBUILDING PUT
    "local _, n, bits = put(KEYS[3], tonumber(ARGV[3]), ARGV[4])\n"
    "redis.call('HINCRBY', KEYS[2], 'next_count', n)\n"
    "redis.call('HINCRBY', KEYS[2], 'next_set', bits)\n"
    "redis.call('PEXPIRE', KEYS[3], " REBUILD_MS ")\n"
    "return {1}\n"};

/* The epoch is deleted first and restored last: if the server is killed while
 * it writes its log, half of this may come back, and must not pass for a
 * filter. */
const struct redis_script redis_script_swap = {
    5, "swap",
    REBUILDING
    "local ttl = redis.call('PTTL', KEYS[2])\n"
    "local v = redis.call('HMGET', KEYS[2], 'next_bits', 'next_bytes',\n"
    "  'next_k', 'next_expect', 'next_fpr', 'next_count', 'next_set', "
    "'count')\n"
    "if ARGV[3] ~= '1' and tonumber(v[6]) * 2 < tonumber(v[8]) then\n"
    "  return 'SMALL'\n"
    "end\n"
    "redis.call('HSET', KEYS[2], 'epoch', '')\n"
    "redis.call('HINCRBY', KEYS[2], 'gen', 1)\n"
    "redis.call('UNLINK', KEYS[1])\n" /* RENAME would free it at once */
    "redis.call('RENAME', KEYS[3], KEYS[1])\n"
    "redis.call('PERSIST', KEYS[1])\n"
    "if ttl > 0 then redis.call('PEXPIRE', KEYS[1], ttl) end\n" FORGET_NEXT
    "redis.call('HSET', KEYS[2], 'bits', v[1], 'bytes', v[2], 'k', v[3],\n"
    "  'expect', v[4], 'fpr', v[5], 'count', v[6], 'set', v[7],\n"
    "  'built', ARGV[2], 'epoch', ARGV[1])\n"
    "return redis.call('HGETALL', KEYS[2])\n"};

const struct redis_script redis_script_abort = {
    6, "abort",
    REBUILDING "redis.call('UNLINK', KEYS[3])\n" FORGET_NEXT
               "redis.call('HINCRBY', KEYS[2], 'gen', 1)\n"
               "return redis.call('HGETALL', KEYS[2])\n"};

const struct redis_script redis_script_info = {
    7, "info",
    KNOWN
    "return {redis.call('HGETALL', KEYS[2]), redis.call('PTTL', KEYS[1])}\n"};

const struct redis_script redis_script_drop = {
    8, "drop", "return {redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])}\n"};

const struct redis_script redis_script_grow = {
    9, "grow",
    "redis.call('SETRANGE', KEYS[4], ARGV[1], '\\0')\n"
    "redis.call('PEXPIRE', KEYS[4], 600000)\n"
    "return {1}\n"};

const struct redis_script redis_script_count = {
    10, "count",
    KNOWN "return {redis.call('BITCOUNT', KEYS[1], ARGV[2], ARGV[3]),\n"
          "  redis.call('STRLEN', KEYS[1])}\n"};
