/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/digest.h"
#include "tests/unit/unit.h"

static struct digest of(const char *crawl, const char *key, const char *url)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = {1, 2, 3};
    struct digest_key k;

    digest_key_init(&k, seed);
    return digest_url(&k, bytes_of_str(crawl), bytes_of_str(key),
                      bytes_of_str(url));
}

TEST(parts_cannot_be_shifted_into_each_other)
{
    ck_assert(!digest_equal(of("a", "b", "c"), of("ab", "", "c")));
    ck_assert(!digest_equal(of("a", "b", "c"), of("a", "bc", "")));
    ck_assert(digest_equal(of("a", "b", "c"), of("a", "b", "c")));
}

/* Promise (Seen check and store): digests have 128 bits, under a secret of the
 * crawl. See also `digest/parts_cannot_be_shifted_into_each_other`,
 * `digest/known_answers_do_not_change`. */
TEST(another_seed_gives_another_digest)
{
    unsigned char seed[DIGEST_SEED_SIZE] = {0};
    struct digest_key a, b;

    digest_key_init(&a, seed);
    seed[31] = 1;
    digest_key_init(&b, seed);
    ck_assert(!digest_equal(digest_bytes(&a, bytes_of("x", 1)),
                            digest_bytes(&b, bytes_of("x", 1))));
}

/* On disk, these decide which URLs are the same: they must never change. */
TEST(known_answers_do_not_change)
{
    struct digest d = of("DEFAULT", "example.org", "http://example.org/");

    ck_assert_uint_eq(d.hi, UINT64_C(0x05ca22186bcae8c2));
    ck_assert_uint_eq(d.lo, UINT64_C(0xf582471c22939e12));
}

TEST(long_urls_are_hashed_whole)
{
    static char a[10000], b[10000];

    memset(a, 'x', sizeof a - 1);
    memset(b, 'x', sizeof b - 1);
    ck_assert(digest_equal(of("", "", a), of("", "", b)));
    b[9998] = 'y';
    ck_assert(!digest_equal(of("", "", a), of("", "", b)));
}
