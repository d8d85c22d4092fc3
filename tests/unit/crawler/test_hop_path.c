/* SPDX-License-Identifier: MIT */
/* test_hop_path.c - how a URL was found: from which page, by which hops. */
#include "crawler/hop_path.h"

#include "tests/unit/frontier/engine_rig.h"

/* Admits a URL found on `via` by a link of `kind`; returns its id. */
static uint64_t found(struct rig *r, const char *url, uint64_t via,
                      enum link_kind kind)
{
    struct engine_item item = rig_item(r, url);

    item.kind = (uint8_t)kind;
    item.seed = kind == LINK_SEED;
    item.depth = via == 0 ? 0 : 1;
    ck_ok(r->e->ops->put(r->e, r->o.crawl, via, &item, 1, RIG_WALL, NULL));
    return frontier_store_last_id(frontier_store_of(r->e));
}

static void assert_hop_path(struct hop_path *t, uint64_t id, uint64_t via,
                            enum link_kind kind, const char *url,
                            const char *path)
{
    const struct engine_lease l = {.id = id, .via = via, .kind = (uint8_t)kind};
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

TEST(of_a_long_way_the_last_letters_are_kept_behind_the_number_of_others)
{
    char urls[400][40], want[80];
    struct hop_path *walked, *known;
    uint64_t ids[400];
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    for (int i = 0; i < 400; i++) {
        snprintf(urls[i], sizeof urls[i], "http://a.example/%d", i);
        ids[i] = found(&r, urls[i], i > 0 ? ids[i - 1] : 0,
                       i > 0 ? LINK_A : LINK_SEED);
    }
    known = hop_path_new(r.e);
    for (int i = 1; i < 400; i++) {
        int over = i > HOP_LETTERS_MOST ? i - HOP_LETTERS_MOST : 0;
        int n = over > 0 ? snprintf(want, sizeof want, "%d+", over) : 0;

        memset(want + n, 'L', (size_t)(i - over));
        want[n + i - over] = '\0';
        assert_hop_path(known, ids[i], ids[i - 1], LINK_A, urls[i - 1], want);
    }
    /* A new one that has to walk the path finds the same, as far as it
     * walks. */
    walked = hop_path_new(r.e);
    snprintf(want, sizeof want,
             "150+LLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLL");
    assert_hop_path(walked, ids[200], ids[199], LINK_A, urls[199], want);
    hop_path_free(known);
    hop_path_free(walked);
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
