/* SPDX-License-Identifier: MIT */
/* test_hop_path.c - how a URL was found: from which page, by which hops. */
#include "crawler/archive/archive.h"

#include "tests/unit/frontier/frontier_rig.h"

/* Admits a URL found on `via` by a link of `kind`; returns its id. */
static uint64_t found(struct rig *r, const char *url, uint64_t via,
                      enum link_kind kind)
{
    struct url_item item = rig_item(r, url);

    item.kind = (uint8_t)kind;
    item.seed = kind == LINK_SEED;
    item.depth = via == 0 ? 0 : 1;
    ck_ok(frontier_put(r->e, via, &item, 1, RIG_WALL, NULL));
    return frontier_store_last_id(r->e->store);
}

static void assert_hop_path(struct hop_path *t, uint64_t id, uint64_t via,
                            enum link_kind kind, const char *url,
                            const char *path)
{
    const struct url_lease l = {.id = id, .via = via, .kind = (uint8_t)kind};
    struct found_by by;

    ck_ok(hop_path_of(t, &l, &by));
    ck_assert_msg(bytes_is(by.via, url), "via %.*s", (int)by.via.len,
                  by.via.at);
    ck_assert_msg(bytes_is(by.path, path), "path %.*s", (int)by.path.len,
                  by.path.at);
}

TEST(each_step_is_a_letter_behind_those_of_the_page_it_was_found_on)
{
    struct hop_path *t;
    struct rig r;
    uint64_t seed, moved, page, image;

    rig_init(&r);
    rig_create(&r);
    seed = found(&r, "http://a.example/", 0, LINK_SEED);
    moved = found(&r, "http://a.example/new", seed, LINK_REDIRECT);
    page = found(&r, "http://a.example/page", moved, LINK_A);
    image = found(&r, "http://a.example/i.png", page, LINK_IMG);
    t = hop_path_new(r.e);
    assert_hop_path(t, seed, 0, LINK_SEED, "", "");
    /* Nothing is known of the path yet, so all of it is walked. */
    assert_hop_path(t, image, page, LINK_IMG, "http://a.example/page", "RLE");
    assert_hop_path(t, page, moved, LINK_A, "http://a.example/new", "RL");
    assert_hop_path(t, moved, seed, LINK_REDIRECT, "http://a.example/", "R");
    hop_path_free(t);
    rig_fini(&r);
}

TEST(every_kind_of_link_has_a_letter_and_a_place)
{
    for (unsigned k = 0; k < LINK_KIND_COUNT_; k++) {
        ck_assert_ptr_nonnull(
            strchr("LERMS", link_kind_letter((enum link_kind)k)));
        ck_assert_ptr_nonnull(link_kind_context((enum link_kind)k));
    }
}
