/* SPDX-License-Identifier: MIT */
/* test_warc_metadata.c - the block of a metadata record. */
#include "crawler/archive/archive.h"

#include "crawler/html/links.h"
#include "tests/unit/unit.h"

/* Promise (Archives): metadata records are written; records name the warcinfo
 * record of their own file. See also `hop_path`,
 * `warc/records_moved_to_another_file_name_its_warcinfo_record_alone`,
 * `warc/each_file_begins_with_the_warcinfo_record_it_was_announced_with`. */
TEST(iso28500_6_6_says_how_it_was_found_and_where_it_leads)
{
    const struct url_item found[] = {
        {.url = bytes_of_str("http://a.example/x"), .kind = LINK_A},
        {.url = bytes_of_str("http://a.example/i.png"), .kind = LINK_IMG},
        {.url = bytes_of_str("http://b.example/"), .kind = LINK_REDIRECT}};
    const struct warc_facts facts = {.url = bytes_of_str("http://a.example/p"),
                                     .by = {bytes_of_str("http://a.example/"),
                                            bytes_of_str("LR")},
                                     .charset = bytes_of_str("UTF-8"),
                                     .outlinks = found,
                                     .outlink_count = 3};
    struct buf out;

    buf_init(&out, WARC_METADATA_MOST);
    ck_assert(warc_metadata(&facts, 1234, &out));
    ck_assert_str_eq(buf_str(&out),
                     "via: http://a.example/\r\n"
                     "hopsFromSeed: LR\r\n"
                     "fetchTimeMs: 1234\r\n"
                     "charsetForLinkExtraction: UTF-8\r\n"
                     "outlink: http://a.example/x L a/@href\r\n"
                     "outlink: http://a.example/i.png E img/@src\r\n"
                     "outlink: http://b.example/ R location\r\n");
    buf_fini(&out);
}

TEST(a_seed_was_found_nowhere_and_took_no_steps)
{
    const struct warc_facts facts = {.url = bytes_of_str("http://a.example/")};
    struct buf out;

    buf_init(&out, WARC_METADATA_MOST);
    ck_assert(warc_metadata(&facts, 0, &out));
    ck_assert_str_eq(buf_str(&out), "hopsFromSeed: \r\nfetchTimeMs: 0\r\n");
    buf_fini(&out);
}

TEST(links_without_end_are_cut_between_two)
{
    struct url_item found[100];
    struct warc_facts facts = {.url = bytes_of_str("http://a.example/"),
                               .outlinks = found,
                               .outlink_count = 100};
    struct buf out;

    for (size_t i = 0; i < 100; i++)
        found[i] =
            (struct url_item){.url = bytes_of_str("http://a.example/link"),
                              .kind = LINK_A};
    buf_init(&out, 1000);
    ck_assert(!warc_metadata(&facts, 0, &out));
    ck_assert_uint_gt(out.len, 900);
    ck_assert_str_eq(buf_str(&out) + out.len - 9, "a/@href\r\n");
    buf_fini(&out);
}
