/*
 * checkpoint_format.h - the layout of a filter file; private to checkpoint.c.
 *
 *     0                header, 256 octets
 *     256              octets of the units, one after the other
 *     end - 256 - 64u  directory, 64 octets for each of u units
 *     end - 256        the header again
 *
 *     header  0 magic "urlweirF"   8 version u32     12 its length u32
 *            16 kind, 16 octets   32 hash, 32 octets
 *            64 seed print        72 generation      80 covers
 *            88 keys expected     96 rate, as IEEE 754 binary64
 *           104 growth           112 tightening     120 fingerprint bits
 *           128 shape, 8 numbers 192 units
 *           200 seed, 32 octets  232 whether it is there, 1 or 0
 *           240 what the keys are: 1 canonical URLs, 2 others too, 0 not known
 *           248 XXH3-64 of 0..247
 *
 *     entry   0 unit              8 offset           16 length
 *            24 three numbers of the kind's
 *            48 XXH3-64 of the unit's octets, seeded with its number
 *            56 XXH3-64 of 0..55
 *
 * The version is the one that the kind's units were last changed in
 * (`file_version` in kind.h), so that an older release reads what it can.
 *
 *     1  as above
 *     2  counting: keys may be kept; cuckoo: copies are counted, buckets of
 *        other sizes
 *
 * With two headers, and a checksum in each entry, one flipped bit damages one
 * unit at most.
 */
#ifndef URLWEIR_FILTER_CHECKPOINT_FORMAT_H
#define URLWEIR_FILTER_CHECKPOINT_FORMAT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define CHECKPOINT_MAGIC       "urlweirF"
#define CHECKPOINT_VERSION     2 /* the newest that is read */
#define CHECKPOINT_HASH        "xxh3-128 secret 1"
#define CHECKPOINT_HEADER_SIZE 256
#define CHECKPOINT_ENTRY_SIZE  64

enum header_at {
    AT_VERSION = 8,
    AT_LENGTH = 12,
    AT_KIND = 16,
    AT_HASH = 32,
    AT_SEED = 64,
    AT_GENERATION = 72,
    AT_COVERS = 80,
    AT_EXPECT = 88,
    AT_RATE = 96,
    AT_GROWTH = 104,
    AT_TIGHTENING = 112,
    AT_FINGERPRINT = 120,
    AT_SHAPE = 128,
    AT_UNITS = 192,
    AT_OPEN_SEED = 200,
    AT_HAS_SEED = 232,
    AT_KEYS = 240,
    AT_SUM = 248
};

/* ---- little-endian numbers ---- */

static inline void checkpoint_put_u64(unsigned char *to, uint64_t v)
{
    v = htole64(v);
    memcpy(to, &v, sizeof v);
}

static inline uint64_t checkpoint_get_u64(const unsigned char *from)
{
    uint64_t v;

    memcpy(&v, from, sizeof v);
    return le64toh(v);
}

static inline void checkpoint_put_u32(unsigned char *to, uint32_t v)
{
    v = htole32(v);
    memcpy(to, &v, sizeof v);
}

static inline uint32_t checkpoint_get_u32(const unsigned char *from)
{
    uint32_t v;

    memcpy(&v, from, sizeof v);
    return le32toh(v);
}

static inline void checkpoint_put_double(unsigned char *to, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    checkpoint_put_u64(to, bits);
}

static inline double checkpoint_get_double(const unsigned char *from)
{
    uint64_t bits = checkpoint_get_u64(from);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

#endif
