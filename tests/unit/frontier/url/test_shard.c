/* SPDX-License-Identifier: MIT */
/* test_shard.c - which shard of a crawl a host belongs to. */
#include "frontier/url/host.h"

#include "tests/unit/unit.h"

/* By xxhash's own XXH3_64bits of the registrable domain. A crawl that is in
 * Kafka is lost when these change. */
static const struct {
    const char *host;
    uint32_t of16, of7, of4096;
} known[] = {
    {"example.org", 5, 4, 3909},
    {"www.a.b.example.org", 5, 4, 3909},
    {"example.co.uk", 11, 4, 2155},
    {"www.example.co.uk", 11, 4, 2155},
    {"127.0.0.1", 12, 3, 1676},
    {"[::1]", 12, 1, 3612},
    {"localhost", 3, 4, 1379},
    {"xn--bcher-kva.example", 6, 0, 1190},
    {"com", 9, 2, 633},
};

TEST_EACH(a_host_stays_in_its_shard, known)
{
    struct bytes host = bytes_of_str(known[_i].host);

    ck_assert_uint_eq(shard_of_host(host, 16), known[_i].of16);
    ck_assert_uint_eq(shard_of_host(host, 7), known[_i].of7);
    ck_assert_uint_eq(shard_of_host(host, 4096), known[_i].of4096);
    ck_assert_uint_eq(shard_of_host(host, 1), 0);
}

TEST(a_crawl_that_is_not_divided_has_all_hosts)
{
    struct bytes host = bytes_of_str("example.org");

    ck_assert(!shard_is_other((struct shard_number){0, 0}, host));
    ck_assert(!shard_is_other((struct shard_number){0, 1}, host));
    ck_assert(!shard_is_other((struct shard_number){5, 16}, host));
    ck_assert(shard_is_other((struct shard_number){4, 16}, host));
}
