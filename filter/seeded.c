/* SPDX-License-Identifier: MIT */
/*
 * seeded.c - filters of keys that are not a crawl's.
 *
 * The default seed is the name of the command that made such files first; it is
 * part of the format.
 */
#include "filter/seeded.h"

#include <string.h>
#include <xxhash.h>

static const char default_text[] = "urlweir filter";

/* Part of the format: files merge by it. */
void seeded_from_text(unsigned char *seed, const char *text)
{
    if (text == NULL)
        text = default_text;
    for (unsigned i = 0; i < 2; i++) {
        XXH128_hash_t h = XXH3_128bits_withSeed(text, strlen(text), i);
        XXH128_canonical_t octets;

        XXH128_canonicalFromHash(&octets, h);
        memcpy(seed + i * 16, octets.digest, 16);
    }
}

static void use_seed(struct checkpoint_id *id, struct digest_key *key)
{
    digest_key_init(key, id->seed);
    id->seed_print = checkpoint_seed_print(key);
}

void seeded_id(struct checkpoint_id *id, struct digest_key *key,
               const char *text)
{
    id->has_seed = true;
    seeded_from_text(id->seed, text);
    use_seed(id, key);
}

enum status seeded_load(struct filter **out, const char *path,
                        uint64_t most_bytes, struct checkpoint_info *info,
                        struct digest_key *key)
{
    struct checkpoint_info read;
    struct digest_key of_file;
    uint64_t print;
    enum status st = checkpoint_peek(path, &read);

    if (st != STATUS_OK)
        return st;
    if (!read.id.has_seed)
        return STATUS_REFUSED;
    print = read.id.seed_print;
    use_seed(&read.id, &of_file);
    if (print != read.id.seed_print)
        return STATUS_DAMAGED;
    st = checkpoint_load(out, path, print, NULL, most_bytes, &read);
    if (st == STATUS_OK) {
        *info = read;
        *key = of_file;
    }
    return st;
}

/* With their lengths, so that no two pairs meet. */
uint64_t seeded_named_key(const struct digest_key *key, struct bytes name,
                          struct bytes text)
{
    return digest_url(key, name, bytes_of("", 0), text).hi;
}
