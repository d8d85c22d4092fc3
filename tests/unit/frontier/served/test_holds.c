/* SPDX-License-Identifier: MIT */
/* test_holds.c - URLs handed out, against an array of them. */
#include "frontier/served/holds.h"

#include "tests/unit/storage/scratch.h"

#define IDS     6000
#define DIGESTS 4000 /* fewer than ids, so that some have the same */

static struct digest digest_of(uint32_t id)
{
    return (struct digest){(id % DIGESTS + 1) * UINT64_C(0x9e3779b97f4a7c15),
                           id % DIGESTS % 64};
}

/* Of those that said their digest, the greatest id. */
static uint32_t latest_of(struct hold *const all[IDS], const bool said[IDS],
                          uint32_t id)
{
    for (uint32_t i = IDS; i-- > 1;) {
        if (all[i] != NULL && said[i] &&
            digest_equal(digest_of(i), digest_of(id)))
            return i;
    }
    return 0;
}

static void look(const struct holds *t, struct hold *const all[IDS],
                 const bool said[IDS], uint32_t id)
{
    const struct hold *h = holds_find_digest(t, digest_of(id));

    ck_assert_ptr_eq(holds_find(t, id), all[id]);
    SAME(h != NULL ? h->id : 0, latest_of(all, said, id));
}

static void change(struct holds *t, struct hold *all[IDS], bool said[IDS],
                   uint32_t id, bool say)
{
    if (all[id] != NULL) {
        holds_remove(t, all[id]);
        all[id] = NULL;
        return;
    }
    all[id] = holds_add(t, id);
    said[id] = say;
    SAME(all[id]->id, id);
    SAME(all[id]->until.place, 0);
    if (say)
        holds_say_digest(t, all[id], digest_of(id));
}

START_TEST(a_hold_is_found_by_id_and_by_the_digest_that_was_said)
{
    static struct hold *all[IDS];
    static bool said[IDS];
    struct holds *t = holds_new();
    uint64_t state = 3;
    size_t count = 0;

    for (int i = 0; i < 60000; i++) {
        uint32_t id = 1 + (uint32_t)scratch_below(&state, IDS - 1);

        count += all[id] != NULL ? -(size_t)1 : 1;
        change(t, all, said, id, scratch_below(&state, 4) > 0);
        SAME(holds_count(t), count);
        look(t, all, said, 1 + (uint32_t)scratch_below(&state, IDS - 1));
    }
    for (uint32_t id = 1; id < IDS; id++) {
        if (all[id] != NULL)
            change(t, all, said, id, false);
    }
    for (uint32_t id = 1; id < IDS; id++)
        ck_assert_ptr_null(holds_find_digest(t, digest_of(id)));
    holds_free(t);
}
END_TEST

START_TEST(when_none_is_left_the_memory_of_many_is_given_back)
{
    struct holds *t = holds_new();
    size_t least;

    holds_remove(t, holds_add(t, 1));
    least = holds_memory(t);
    for (uint32_t id = 1; id <= 100000; id++)
        holds_add(t, id);
    ck_assert_uint_gt(holds_memory(t), 100000 * sizeof(struct hold));
    for (uint32_t id = 1; id <= 100000; id++)
        holds_remove(t, holds_find(t, id));
    ck_assert_uint_le(holds_memory(t), least);
    holds_remove(t, holds_add(t, 7));
    holds_free(t);
}
END_TEST

Suite *suite_holds(void)
{
    Suite *s = suite_create("holds");
    TCase *t = tcase_create("holds");

    tcase_add_test(t, a_hold_is_found_by_id_and_by_the_digest_that_was_said);
    tcase_add_test(t, when_none_is_left_the_memory_of_many_is_given_back);
    suite_add_tcase(s, t);
    return s;
}
