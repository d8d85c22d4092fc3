/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "crawler/transfer/limits.h"
#include "tests/unit/unit.h"

static const unsigned char v4[4] = {192, 0, 2, 1};
static const unsigned char v6[16] = {192, 0, 2, 1};

TEST(each_address_has_so_many_and_no_more)
{
    struct ip_limit *l = ip_limit_new(2);

    ck_assert(ip_limit_take(l, v4, 4));
    ck_assert(ip_limit_take(l, v4, 4));
    ck_assert(!ip_limit_take(l, v4, 4));
    ck_assert(ip_limit_take(l, v6, 16)); /* another address */
    ip_limit_give(l, v4, 4);
    ck_assert(ip_limit_take(l, v4, 4));
    ck_assert(!ip_limit_is_wished(l));
    ip_limit_free(l);
}

TEST(agrees_with_a_plain_model)
{
    enum { ADDRESSES = 5, MOST = 3, STEPS = 100000 };
    struct ip_limit *l = ip_limit_new(MOST);
    unsigned open[ADDRESSES] = {0};

    srand(11);
    for (int i = 0; i < STEPS; i++) {
        unsigned char a = (unsigned char)(rand() % ADDRESSES);

        if (rand() % 2 == 0) {
            ck_assert_int_eq(ip_limit_take(l, &a, 1), open[a] < MOST);
            open[a] += open[a] < MOST;
        } else if (open[a] > 0) {
            ip_limit_give(l, &a, 1);
            open[a]--;
        }
    }
    ip_limit_free(l);
}
