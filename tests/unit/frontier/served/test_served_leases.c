/* SPDX-License-Identifier: MIT */
/* test_served_leases.c - leased URLs, against an array of them. */
#include "frontier/served/served_impl.h"

#include "tests/unit/storage/scratch.h"

#define IDS     6000
#define DIGESTS 4000 /* fewer than ids, so that some ids share one */

static struct digest digest_of(uint32_t id)
{
    return (struct digest){(id % DIGESTS + 1) * UINT64_C(0x9e3779b97f4a7c15),
                           id % DIGESTS % 64};
}

/* Returns the greatest id of the leases that gave this digest. */
static uint32_t latest_of(struct served_lease *const all[IDS],
                          const bool said[IDS], uint32_t id)
{
    for (uint32_t i = IDS; i-- > 1;) {
        if (all[i] != NULL && said[i] &&
            digest_equal(digest_of(i), digest_of(id)))
            return i;
    }
    return 0;
}

static void look(const struct served_leases *t,
                 struct served_lease *const all[IDS], const bool said[IDS],
                 uint32_t id)
{
    const struct served_lease *h = served_leases_find_digest(t, digest_of(id));

    ck_assert_ptr_eq(served_leases_find(t, id), all[id]);
    SAME(h != NULL ? h->id : 0, latest_of(all, said, id));
}

static void change(struct served_leases *t, struct served_lease *all[IDS],
                   bool said[IDS], uint32_t id, bool say)
{
    if (all[id] != NULL) {
        served_leases_remove(t, all[id]);
        all[id] = NULL;
        return;
    }
    all[id] = served_leases_add(t, id);
    said[id] = say;
    SAME(all[id]->id, id);
    SAME(all[id]->until.place, 0);
    if (say)
        served_leases_set_digest(t, all[id], digest_of(id));
}

TEST(a_hold_is_found_by_id_and_by_the_digest_that_was_said)
{
    static struct served_lease *all[IDS];
    static bool said[IDS];
    struct served_leases *t = served_leases_new();
    uint64_t state = 3;
    size_t count = 0;

    for (int i = 0; i < 60000; i++) {
        uint32_t id = 1 + (uint32_t)scratch_below(&state, IDS - 1);

        count += all[id] != NULL ? -(size_t)1 : 1;
        change(t, all, said, id, scratch_below(&state, 4) > 0);
        SAME(served_leases_count(t), count);
        look(t, all, said, 1 + (uint32_t)scratch_below(&state, IDS - 1));
    }
    for (uint32_t id = 1; id < IDS; id++) {
        if (all[id] != NULL)
            change(t, all, said, id, false);
    }
    for (uint32_t id = 1; id < IDS; id++)
        ck_assert_ptr_null(served_leases_find_digest(t, digest_of(id)));
    served_leases_free(t);
}

TEST(when_none_is_left_the_memory_of_many_is_given_back)
{
    struct served_leases *t = served_leases_new();
    size_t least;

    served_leases_remove(t, served_leases_add(t, 1));
    least = served_leases_memory(t);
    for (uint32_t id = 1; id <= 100000; id++)
        served_leases_add(t, id);
    ck_assert_uint_gt(served_leases_memory(t),
                      100000 * sizeof(struct served_lease));
    for (uint32_t id = 1; id <= 100000; id++)
        served_leases_remove(t, served_leases_find(t, id));
    ck_assert_uint_le(served_leases_memory(t), least);
    served_leases_remove(t, served_leases_add(t, 7));
    served_leases_free(t);
}
