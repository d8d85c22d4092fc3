/* SPDX-License-Identifier: MIT */
/*
 * test_verify_crawl.c - what does not agree in the tables that a crawl with
 * dates, validators and near duplicates has besides its URLs.
 */
#include "storage/rows/page_store.h"
#include "tests/unit/frontier/frontier_rig.h"

#define PAGES 6

/* Six pages of two hosts, done and with a date, and one that is queued. */
static void make(struct rig *r)
{
    rig_init(r);
    r->o.refresh = (struct refresh_rules){.every_ms = 10000, .min_ms = 10000};
    r->o.watch_near = true;
    rig_create(r);
    for (unsigned i = 0; i < PAGES; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://h%u.test/%u", i % 2, i);
        rig_seed(r, url);
    }
    for (unsigned i = 0; i < PAGES; i++) {
        struct url_done d = {
            .id = rig_lease(r),
            .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
            .row = {.at_ms = RIG_WALL + i,
                    .body_digest = {i + 1, 1},
                    .simhash = UINT64_C(0x0123456789abcdef) << i},
            .host = {.ended = r->now, .retry_after_ms = -1},
        };

        ck_assert_uint_ne(d.id, 0);
        ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
    }
    rig_seed(r, "http://h0.test/queued");
    rig_stop(r);
}

enum part { DATES, LAST, NEAR, BODIES, PARTS };

/* Bits of the parts that are damaged. */
static unsigned damaged_parts(const char *dir)
{
    struct reader reader;
    enum status st[PARTS];
    uint64_t count = 0;
    unsigned bits = 0;

    ck_ok(reader_open(&reader, dir));
    st[DATES] = frontier_store_verify(reader.store);
    st[LAST] = page_store_verify_last(reader.pages,
                                      frontier_store_last_id(reader.store));
    st[NEAR] = page_store_verify_near(reader.pages, &count);
    if (st[NEAR] == STATUS_OK)
        ck_assert_uint_eq(count, PAGES);
    st[BODIES] = page_store_verify_bodies(reader.pages, &count);
    if (st[BODIES] == STATUS_OK)
        ck_assert_uint_eq(count, PAGES);
    for (int i = 0; i < PARTS; i++) {
        ck_assert(st[i] == STATUS_OK || st[i] == STATUS_DAMAGED);
        bits |= (unsigned)(st[i] == STATUS_DAMAGED) << i;
    }
    reader_close(&reader);
    return bits;
}

static const struct {
    const char *sql;
    unsigned damages;
} harms[] = {
    {"SELECT 1", 0},
    {"UPDATE refresh SET url = 99 WHERE url = 1", 1 << DATES},
    {"UPDATE refresh SET url = 2 WHERE url = 1", 1 << DATES},
    {"UPDATE refresh SET url = 7, due = 1, seq = 7 WHERE url = 1", 1 << DATES},
    {"UPDATE refresh SET queue = 3 - queue WHERE url = 1", 1 << DATES},
    {"UPDATE refresh SET seq = seq + 1 WHERE url = 1", 1 << DATES},
    {"UPDATE refresh SET seq = 99 WHERE url = 1", 1 << DATES},
    {"UPDATE refresh SET url = -1 WHERE url = 1", 1 << DATES},
    {"UPDATE refresh SET queue = -1 WHERE url = 1", 1 << DATES},
    {"DELETE FROM refresh WHERE url = 1", 1 << DATES},
    {"INSERT INTO refresh SELECT queue, due + 1, url, seq, at, 0, 0, 0, 0 FROM"
     " refresh WHERE url = 1; DELETE FROM refresh WHERE url = 2",
     1 << DATES},
    {"INSERT INTO refresh SELECT queue, due + 1, url, seq, at, 0, 0, 0, 0 FROM"
     " refresh WHERE url = 1",
     1 << DATES},
    {"INSERT INTO whole VALUES(0, x'00')", 1 << LAST},
    {"UPDATE fetch SET text_print = 5 WHERE seq = 3", 0}, /* read anew */
};

TEST(what_does_not_agree_is_damage_of_that_part_alone)
{
    struct rig r;

    make(&r);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct scratch copy = scratch_make();
        unsigned found;

        rig_copy(&r.at, &copy);
        scratch_sql(copy.db, harms[i].sql);
        found = damaged_parts(copy.dir);
        ck_assert_msg(found == harms[i].damages, "%s: %x", harms[i].sql, found);
        scratch_remove(&copy);
    }
    rig_fini(&r);
}
