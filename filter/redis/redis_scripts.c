/* SPDX-License-Identifier: MIT */
/*
 * redis_scripts.c - what a Redis server does for a shared Bloom filter, in Lua.
 *
 * One BITFIELD command a key sets k bits, wherever they are, and returns their
 * old values, so that both layouts share the scripts. SETBIT for each bit would
 * take k commands a key. Constants are strings from the start: the server
 * formats each number it is passed, at a fifth of the call's cost.
 */
#include "filter/redis/redis_impl.h"

/* Is the filter the one the caller knows? An empty epoch means another
 * program's bitmap, which has no record. */
#define KNOWN                                                                  \
    "local m = redis.call('HMGET', KEYS[2], 'epoch', 'bytes', 'gen',\n"        \
    "  'ttl', 'generations', 'born', 'last', 'olds')\n"                        \
    "if ARGV[1] == '' then\n"                                                  \
    "  if redis.call('EXISTS', KEYS[1]) == 0 then return 'LOST' end\n"         \
    "elseif m[1] ~= ARGV[1] or\n"                                              \
    "    redis.call('STRLEN', KEYS[1]) ~= (tonumber(m[2]) or -1) then\n"       \
    "  return 'LOST'\n"                                                        \
    "end\n"

#define CURRENT                                                                \
    KNOWN "if ARGV[1] ~= '' and m[3] ~= ARGV[2] then return 'STALE' end\n"

/* Of a filter that forgets, `olds` older generations are KEYS[at + 1] and so
 * on; the time is the server's, so that its clients need not agree on one. A
 * generation is over ttl ms after its last key; it is due that a new one begins
 * ttl / generations ms after the newest did, unless there is no room for one
 * more: then the newest takes keys for longer, since none may go too early. */
#define AGES(at)                                                               \
    "local ages = m[5] and m[5] ~= '0'\n"                                      \
    "local at, now, ttl, olds = " at ", 0, 0, 0\n"                             \
    "if ages then\n"                                                           \
    "  local t = redis.call('TIME')\n"                                         \
    "  now = t[1] * 1000 + math.floor(t[2] / 1000)\n"                          \
    "  ttl, olds = tonumber(m[4]), tonumber(m[8])\n"                           \
    "end\n"                                                                    \
    "local function ms(t) return string.format('%.0f', t) end\n"               \
    "local function over(i)\n"                                                 \
    "  return now >= tonumber(redis.call('HGET', KEYS[2], 'last' .. i)) + "    \
    "ttl\n"                                                                    \
    "end\n"                                                                    \
    "local function due()\n"                                                   \
    "  return ages and now - m[6] >= math.floor(ttl / m[5]) and\n"             \
    "    (olds < tonumber(m[5]) or over(olds))\n"                              \
    "end\n"                                                                    \
    "for i = 1, olds do\n"                                                     \
    "  if not over(i) and\n"                                                   \
    "      redis.call('STRLEN', KEYS[at + i]) ~= tonumber(m[2]) then\n"        \
    "    return 'LOST'\n"                                                      \
    "  end\n"                                                                  \
    "end\n"

/* Set out[i] to "1" for each key whose bits are all set. */
#define GET                                                                    \
    "local function get(key, k, offsets, out)\n"                               \
    "  local cmd = {'BITFIELD_RO', key}\n"                                     \
    "  local fmt = '>' .. string.rep('I4', k)\n"                               \
    "  for j = 1, k do cmd[3*j], cmd[3*j+1] = 'GET', 'u1' end\n"               \
    "  for i = 1, #out do if out[i] == '0' then\n"                             \
    "    local bit = {struct.unpack(fmt, offsets, (i - 1) * 4 * k + 1)}\n"     \
    "    local all = '1'\n"                                                    \
    "    for j = 1, k do cmd[3*j+2] = bit[j] end\n"                            \
    "    local set = redis.call(unpack(cmd))\n"                                \
    "    for j = 1, k do if set[j] == 0 then all = '0' end end\n"              \
    "    out[i] = all\n"                                                       \
    "  end end\n"                                                              \
    "end\n"                                                                    \
    "local function get_older(k, offsets, out)\n"                              \
    "  for i = 1, olds do\n"                                                   \
    "    if not over(i) then get(KEYS[at + i], k, offsets, out) end\n"         \
    "  end\n"                                                                  \
    "end\n"

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
    "  if ARGV[1] == 'renew' then return m end\n"
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
    "if ARGV[1] == 'open' or ARGV[1] == 'renew' then return 'NONE' end\n"
    "local bytes = math.ceil(tonumber(ARGV[2]) / 8)\n"
    "if lacks_room(bytes) then return 'GROW' end\n"
    "redis.call('UNLINK', KEYS[2], KEYS[3], unpack(KEYS, 5))\n"
    "make_room(KEYS[1], bytes)\n"
    "redis.call('HSET', KEYS[2], unpack(ARGV, 5))\n"
    "if tonumber(ARGV[3]) > 0 then\n"
    "  local t = redis.call('TIME')\n"
    "  local now = string.format('%.0f', t[1] * 1000 + math.floor(t[2] / "
    "1000))\n"
    "  redis.call('HSET', KEYS[2], 'ttl', ARGV[3], 'generations', ARGV[4],\n"
    "    'born', now, 'last', now, 'olds', '0')\n"
    "  if ARGV[4] == '0' then\n"
    "    redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', now + "
    "ARGV[3]))\n"
    "  end\n"
    "end\n"
    "return redis.call('HGETALL', KEYS[2])\n"};

const struct redis_script redis_script_add = {
    1, "add",
    CURRENT AGES("4") GET PUT
    "if due() then return 'AGE' end\n"
    "if ARGV[3] ~= '' then\n"
    "  local last = redis.call('GET', KEYS[4])\n"
    "  if last and string.sub(last, 1, #ARGV[3]) == ARGV[3] then\n"
    "    return {0, 0, 0, string.sub(last, #ARGV[3] + 1)}\n"
    "  end\n"
    "end\n"
    "local fresh, n, bits = put(KEYS[1], tonumber(ARGV[4]), ARGV[5])\n"
    "if ages then redis.call('HSET', KEYS[2], 'last', ms(now)) end\n"
    "if olds > 0 and ARGV[3] ~= '' then\n"
    "  local out = {}\n"
    "  for c in string.gmatch(fresh, '.') do\n"
    "    out[#out+1] = c == '1' and '0' or '1'\n"
    "  end\n"
    "  get_older(tonumber(ARGV[4]), ARGV[5], out)\n"
    "  for i = 1, #out do out[i] = out[i] == '0' and '1' or '0' end\n"
    "  fresh = table.concat(out)\n"
    "end\n"
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
    CURRENT AGES("2") GET
    "local k, out = tonumber(ARGV[3]), {}\n"
    "for i = 1, #ARGV[4] / (4 * k) do out[i] = '0' end\n"
    "if not ages or now < m[7] + ttl then get(KEYS[1], k, ARGV[4], out) end\n"
    "get_older(k, ARGV[4], out)\n"
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
    "local ttl = redis.call('PTTL', KEYS[1])\n"
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
    8, "drop", "return {redis.call('UNLINK', unpack(KEYS))}\n"};

const struct redis_script redis_script_grow = {
    9, "grow",
    "redis.call('SETRANGE', KEYS[4], ARGV[1], '\\0')\n"
    "redis.call('PEXPIRE', KEYS[4], 600000)\n"
    "return {1}\n"};

const struct redis_script redis_script_count = {
    10, "count",
    KNOWN "return {redis.call('BITCOUNT', KEYS[1], ARGV[2], ARGV[3]),\n"
          "  redis.call('STRLEN', KEYS[1])}\n"};

/* As in `swap`, half of this must not pass for a filter. */
const struct redis_script redis_script_age = {
    11, "age",
    CURRENT AGES("4") ROOM
    "if not due() then\n"
    "  redis.call('UNLINK', KEYS[4])\n"
    "  return redis.call('HGETALL', KEYS[2])\n"
    "end\n"
    "local born = ms(now - (now - m[6]) % math.floor(ttl / m[5]))\n"
    "local v = redis.call('HMGET', KEYS[2], 'count', 'set')\n"
    "if v[1] == '0' then\n" /* it may as well begin now */
    "  redis.call('HSET', KEYS[2], 'born', born, 'last', born)\n"
    "  return redis.call('HGETALL', KEYS[2])\n"
    "end\n"
    "if lacks_room(tonumber(m[2])) then return 'GROW' end\n"
    "redis.call('HSET', KEYS[2], 'epoch', '')\n"
    "local function put_old(i, from, last, count, set)\n"
    "  redis.call('UNLINK', KEYS[at + i])\n"
    "  if redis.call('EXISTS', from) == 1 then\n"
    "    redis.call('RENAME', from, KEYS[at + i])\n"
    "    redis.call('PEXPIREAT', KEYS[at + i], ms(last + ttl))\n"
    "  end\n"
    "  redis.call('HSET', KEYS[2], 'last' .. i, last, 'count' .. i, count,\n"
    "    'set' .. i, set)\n"
    "end\n"
    "while olds > 0 and over(olds) do\n"
    "  redis.call('UNLINK', KEYS[at + olds])\n"
    "  redis.call('HDEL', KEYS[2], 'last' .. olds, 'count' .. olds,\n"
    "    'set' .. olds)\n"
    "  olds = olds - 1\n"
    "end\n"
    "if now < m[7] + ttl then\n"
    "  for i = olds, 1, -1 do\n"
    "    put_old(i + 1, KEYS[at + i], unpack(redis.call('HMGET', KEYS[2],\n"
    "      'last' .. i, 'count' .. i, 'set' .. i)))\n"
    "  end\n"
    "  put_old(1, KEYS[1], m[7], v[1], v[2])\n"
    "  olds = olds + 1\n"
    "end\n"
    "make_room(KEYS[1], tonumber(m[2]))\n"
    "redis.call('HINCRBY', KEYS[2], 'gen', 1)\n"
    "redis.call('HSET', KEYS[2], 'born', born, 'last', born, 'count', '0',\n"
    "  'set', '0', 'olds', tostring(olds), 'epoch', ARGV[1])\n"
    "return redis.call('HGETALL', KEYS[2])\n"};

/* A generation that is over must stay so; its string may be gone. */
const struct redis_script redis_script_ttl = {
    12, "ttl",
    CURRENT AGES(
        "4") "if not m[4] then return 'NONE' end\n"
             "if due() then return 'AGE' end\n"
             "for i = 1, olds do\n"
             "  if over(i) then\n"
             "    redis.call('HSET', KEYS[2], 'last' .. i, '0')\n"
             "  else\n"
             "    redis.call('PEXPIREAT', KEYS[at + i],\n"
             "      ms(redis.call('HGET', KEYS[2], 'last' .. i) + ARGV[3]))\n"
             "  end\n"
             "end\n"
             "redis.call('HSET', KEYS[2], 'ttl', ARGV[3])\n"
             "if not ages then\n"
             "  redis.call('PEXPIREAT', KEYS[1], ms(m[6] + ARGV[3]))\n"
             "end\n"
             "return redis.call('HGETALL', KEYS[2])\n"};

const struct redis_script redis_script_renew = {
    13, "renew",
    ROOM
    "local m = redis.call('HMGET', KEYS[2], 'epoch', 'bytes', 'ttl',\n"
    "  'generations', 'born')\n"
    "if m[4] ~= '0' then return 'LOST' end\n"
    "if redis.call('STRLEN', KEYS[1]) == tonumber(m[2]) and m[1] ~= '' then\n"
    "  redis.call('UNLINK', KEYS[4])\n"
    "  return redis.call('HGETALL', KEYS[2])\n"
    "end\n"
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "if now < m[5] + m[3] then return 'LOST' end\n"
    "if lacks_room(tonumber(m[2])) then return 'GROW' end\n"
    "redis.call('HSET', KEYS[2], 'epoch', '')\n"
    "redis.call('UNLINK', KEYS[3])\n" FORGET_NEXT
    "make_room(KEYS[1], tonumber(m[2]))\n"
    "redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', now + m[3]))\n"
    "redis.call('HINCRBY', KEYS[2], 'gen', 1)\n"
    "redis.call('HSET', KEYS[2], 'born', string.format('%.0f', now),\n"
    "  'adds', '0', 'count', '0', 'set', '0', 'epoch', ARGV[1])\n"
    "return redis.call('HGETALL', KEYS[2])\n"};
