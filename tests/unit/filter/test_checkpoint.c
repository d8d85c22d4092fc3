/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "tests/unit/filter/image.h"

TIMEOUT(120);
FIXTURE(use_a_file, drop_the_file);

TEST(what_was_saved_comes_back_alike)
{
    const struct filter_traits *kind;

    for (size_t i = 0; (kind = filter_kind(i)) != NULL; i++) {
        struct filter *f = saved(kind->name, 20000, NULL), *g = NULL;
        struct filter_stats before, after;
        struct checkpoint_info info;

        ck_ok(load(&g, NULL, &info));
        ck_assert_uint_eq(info.damaged, 0);
        ck_assert_uint_eq(info.id.generation, 5);
        ck_assert_uint_eq(info.id.covers, 1234);
        ck_assert_uint_eq(count_maybe(g, 0, 20000), 20000);
        ck_assert_uint_eq(count_maybe(g, 20000, 100000),
                          count_maybe(f, 20000, 100000));
        filter_stats(f, &before);
        filter_stats(g, &after);
        ck_assert_str_eq(after.kind, kind->name);
        ck_assert_uint_eq(after.count, before.count);
        ck_assert_double_eq(after.fpr_promised, before.fpr_promised);
        if (kind->grows) {
            ck_ok(add_range(g, 20000, 300000));
            ck_assert_uint_eq(count_maybe(g, 0, 320000), 320000);
        }
        filter_free(f);
        filter_free(g);
    }
}

TEST(another_image_replaces_the_first_whole)
{
    struct filter *f = saved("bloom", 5000, NULL), *g = NULL;

    filter_free(f);
    f = saved("scalable", 6000, NULL);
    ck_ok(load(&g, NULL, NULL));
    ck_assert_uint_eq(count_maybe(g, 0, 6000), 6000);
    filter_free(f);
    filter_free(g);
}

/* Promise 3: The filter is only a cache; one that does not verify is rebuilt.
 * See also `tests/cli/damaged-filter.sh`,
 * `checkpoint/headers_that_lie_are_refused`,
 * `checkpoint/an_entry_that_lies_costs_its_unit_alone`,
 * `checkpoint/a_file_of_another_seed_is_refused`,
 * `scalable/memory_that_fails_costs_bits_never_keys`, `tests/cli/exact.sh`. */
/* Flips bits in every region of the file: headers, units, directory. */
TEST(one_flipped_bit_costs_at_most_one_segment)
{
    const struct filter_traits *kind;

    for (size_t i = 0; (kind = filter_kind(i)) != NULL; i++) {
        struct remembered *r = xcalloc(1, sizeof *r);
        struct filter *f = saved(kind->name, 100000, r);
        uint64_t size;

        ck_ok(file_size(path, &size));
        for (uint64_t bit = 0; bit < size * 8; bit += size * 8 / FEWER(150)) {
            struct checkpoint_info info;
            struct filter *g = NULL;

            flip(bit);
            ck_ok(load(&g, r, &info));
            ck_assert_uint_le(info.damaged, 1);
            ck_assert_uint_eq(info.lost, 0);
            ck_assert_uint_eq(count_maybe(g, 0, 100000), 100000);
            ck_assert_uint_lt(count_maybe(g, 200000, 10000), 200);
            filter_free(g);
            flip(bit);
        }
        filter_free(f);
        forget_all(r);
    }
}

TEST(without_keys_a_damaged_part_says_maybe_to_all)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = saved("scalable", 100000, r), *g = NULL;
    struct checkpoint_info info;
    struct filter_stats s;

    flip(8 * 300);
    r->fail = STATUS_IO;
    ck_ok(load(&g, r, &info));
    ck_assert_uint_eq(info.damaged, 1);
    ck_assert_uint_eq(info.lost, 1);
    ck_assert_uint_eq(info.listed[0], 0);
    filter_stats(g, &s);
    ck_assert_uint_eq(s.lost, 1);
    ck_assert_uint_eq(count_maybe(g, 0, 100000), 100000);
    ck_assert(filter_check_one(g, 1)); /* segment 0 */
    filter_free(f);
    filter_free(g);
    forget_all(r);
}

TEST(kept_keys_mend_their_own_segment)
{
    struct filter *f = saved("scalable", 100000, NULL), *g = NULL;
    struct checkpoint_info info;

    flip(8 * 300);
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.damaged, 1);
    ck_assert_uint_eq(info.lost, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 100000), 100000);
    filter_free(f);
    filter_free(g);
}

TEST(a_file_of_another_seed_is_refused)
{
    struct filter *f = saved("bloom", 100, NULL), *g = NULL;

    ck_assert_int_eq(checkpoint_load(&g, path, 78, NULL, 0, NULL),
                     STATUS_FORMAT);
    ck_assert_ptr_null(g);
    filter_free(f);
}

TEST(headers_that_lie_are_refused)
{
    static const struct {
        size_t at;
        char octets[8];
        enum status want;
    } lies[] = {
        {8, {3}, STATUS_VERSION},                       /* version */
        {16, "sieve", STATUS_FORMAT},                   /* kind */
        {32, "md5", STATUS_FORMAT},                     /* hash */
        {88, {0}, STATUS_FORMAT},                       /* keys: none */
        {96, {0, 0, 0, 0, 0, 0, 0, 64}, STATUS_FORMAT}, /* rate: 2 */
        {128, {0, 0, 0, 0, 0, 1}, STATUS_FORMAT},       /* shape: 2^40 */
        {128, {0}, STATUS_FORMAT},                      /* shape: 0 */
        {136, {0}, STATUS_FORMAT},                      /* k: 0 */
        {136, {9}, STATUS_FORMAT},                      /* k: 9 */
        {192, {0, 0, 0, 1}, STATUS_DAMAGED},            /* units */
    };
    const struct filter_traits *kind;

    for (size_t i = 0; (kind = filter_kind(i)) != NULL; i++) {
        for (size_t j = 0; j < sizeof lies / sizeof *lies; j++) {
            struct filter *f = saved(kind->name, 1000, NULL), *g = NULL;
            enum status st;

            forge(lies[j].at, lies[j].octets, 8);
            st = load(&g, NULL, NULL);
            if (lies[j].at < 128) /* past this, each kind has its own reasons */
                ck_assert_int_eq(st, lies[j].want);
            ck_assert_msg(st != STATUS_OK, "%s: lie %zu", kind->name, j);
            ck_assert_ptr_null(g);
            filter_free(f);
        }
    }
}

/* Saves a filter with keys beside its table, for lack of a free bucket. */
static struct filter *saved_overfull(void)
{
    const struct filter_options o = {.kind = "cuckoo",
                                     .expect = 2000,
                                     .fpr = 0.01,
                                     .keep_nothing = true};
    struct filter *f = NULL;

    ck_ok(filter_new(&f, &o));
    (void)add_range(f, 0, 2060);
    ck_ok(checkpoint_save(path, f, &id));
    return f;
}

TEST(keys_beside_a_full_table_come_back_or_all_is_maybe)
{
    static const struct {
        bool content; /* otherwise in the entry */
        size_t at;
        uint64_t value;
    } lies[] = {
        {true, 0, UINT64_MAX}, /* buckets that do not exist */
        {true, 8, UINT64_MAX},
        {true, 0, 1 << 20},
        {true, 8, 1 << 20},
        {true, 16, 0}, /* an empty fingerprint, and one that is too long */
        {true, 16, UINT64_C(1) << 32},
        {false, 24, 1000}, /* more keys than there are */
        {false, 32, 1000},
        {false, 40, 4},
    };
    struct filter *f = saved_overfull(), *g = NULL;
    struct checkpoint_info info;
    uint64_t length = 0, maybe = count_maybe(f, 10000, 10000);
    struct buf b = file_content();

    ck_ok(checkpoint_peek(path, &info));
    memcpy(&length, b.at + b.len - 256 - info.units * 64 + 16, 8);
    ck_assert_uint_ge(length, 24); /* there is at least one */
    ck_assert_uint_lt(maybe, 5000);
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.damaged, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 2060), 2060);
    ck_assert_uint_eq(count_maybe(g, 10000, 10000), maybe);
    filter_free(g);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        ck_ok(file_replace(path, buf_bytes(&b)));
        if (lies[i].content)
            forge_content(info.units, 0, lies[i].at, lies[i].value);
        else
            forge_entry(info.units, 0, lies[i].at, lies[i].value);
        ck_ok(load(&g, NULL, &info));
        ck_assert_msg(info.damaged == 1 && info.lost == 1, "lie %zu", i);
        ck_assert_uint_eq(count_maybe(g, 0, 20000), 20000);
        filter_free(g);
    }
    buf_fini(&b);
    filter_free(f);
}

/* Whatever the entry says, no key is lost and the other units are unchanged. */
TEST(an_entry_that_lies_costs_its_unit_alone)
{
    static const struct {
        size_t at;
        uint64_t value;
    } lies[] = {
        {0, 1}, /* another unit */
        {8, 0}, /* offset: in the header */
        {8, 255},
        {8, UINT64_MAX},
        {8, UINT64_C(1) << 40}, /* past the end */
        {16, 0},                /* length */
        {16, UINT64_MAX},
        {16, UINT64_MAX - 255},
        {16, UINT64_C(1) << 40},
        {24, 0}, /* blocks */
        {24, 1000},
        {24, UINT64_C(1) << 32},
        {24, UINT64_MAX},
        {32, UINT32_MAX}, /* keys */
        {40, 0},          /* marks a key */
        {40, 6},
        {40, 4096},
        {48, 5}, /* checksum of the content */
    };

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct filter *f = saved("scalable", 100000, NULL), *g = NULL;
        struct checkpoint_info info;

        ck_ok(checkpoint_peek(path, &info));
        forge_entry(info.units, 7, lies[i].at, lies[i].value);
        ck_ok(load(&g, NULL, &info));
        ck_assert_msg(info.damaged == 1 && info.lost == 0 &&
                          info.listed[0] == 7,
                      "lie %zu: %" PRIu64 " damaged, %" PRIu64 " lost", i,
                      info.damaged, info.lost);
        ck_assert_uint_eq(count_maybe(g, 0, 100000), 100000);
        ck_assert_uint_lt(count_maybe(g, 100000, 100000), 1200);
        filter_free(f);
        filter_free(g);
    }
}

/* They follow the segments; without them a filter cannot grow. */
TEST(keys_whose_entry_lies_are_not_believed)
{
    static const struct {
        size_t at;
        uint64_t value;
    } lies[] = {{24, 0}, {24, 2}, {16, 4}, {48, 5}};

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct filter *f = saved("scalable", 100000, NULL), *g = NULL;
        struct checkpoint_info info;

        ck_ok(checkpoint_peek(path, &info));
        forge_entry(info.units, 4096 + 7, lies[i].at, lies[i].value);
        ck_ok(load(&g, NULL, &info));
        ck_assert_uint_eq(info.damaged, 1);
        ck_assert_uint_eq(info.lost, 1);
        ck_assert_uint_eq(count_maybe(g, 0, 100000), 100000);
        (void)add_range(g, 100000, 400000);
        ck_assert_uint_eq(count_maybe(g, 0, 500000), 500000);
        filter_free(f);
        filter_free(g);
    }
}

TEST(what_is_no_filter_file_is_refused)
{
    struct filter *f = saved("bloom", 100, NULL), *g = NULL;
    struct buf b = file_content();
    char noise[4096];

    filter_free(f);
    for (size_t len = 0; len < b.len; len += 61) {
        ck_ok(file_replace(path, bytes_of(b.at, len)));
        ck_assert_int_ne(load(&g, NULL, NULL), STATUS_OK);
    }
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)nth_key(i);
    ck_ok(file_replace(path, bytes_of(noise, sizeof noise)));
    ck_assert_int_eq(load(&g, NULL, NULL), STATUS_FORMAT);
    unlink(path);
    ck_assert_int_eq(load(&g, NULL, NULL), STATUS_NOT_FOUND);
    ck_assert_ptr_null(g);
    buf_fini(&b);
}

TEST(peeking_tells_who_wrote_it)
{
    struct filter *f = saved("bloom", 100, NULL);
    struct checkpoint_info info;

    ck_ok(checkpoint_peek(path, &info));
    ck_assert_uint_eq(info.id.seed_print, 77);
    ck_assert_uint_eq(info.id.covers, 1234);
    ck_assert(!info.id.has_seed);
    filter_free(f);
}

/* Any later release must read a file written today: a change to the format, or
 * to its bits, fails here and needs a new version. */
TEST(ours_files_never_change)
{
    static const struct {
        const char *kind;
        uint64_t sum;
    } known[] = {{"scalable", UINT64_C(0x6a6642e9a716deed)},
                 {"bloom", UINT64_C(0x4e1b66ac9a87e81b)},
                 {"stacked", UINT64_C(0xcd12f3c59f1af2b7)},
                 {"counting", UINT64_C(0xc2be65e02f72b7b3)},
                 {"cuckoo", UINT64_C(0x85f6c731cb1e2f89)}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct filter *f = saved(known[i].kind, 500, NULL);
        struct buf b = file_content();
        uint64_t sum = XXH3_64bits(b.at, b.len);

        ck_assert_msg(sum == known[i].sum, "%s: %#" PRIx64, known[i].kind, sum);
        buf_fini(&b);
        filter_free(f);
    }
}

TEST(an_open_seed_is_kept_in_the_file)
{
    struct checkpoint_id open = {.has_seed = true, .seed = "not a secret"};
    struct filter *f = saved("bloom", 100, NULL);
    struct checkpoint_info info;

    ck_ok(checkpoint_save(path, f, &open));
    ck_ok(checkpoint_peek(path, &info));
    ck_assert(info.id.has_seed);
    ck_assert_mem_eq(info.id.seed, open.seed, sizeof open.seed);
    filter_free(f);
}

TEST(memory_that_fails_while_loading_leaves_nothing)
{
    struct filter *f = saved("scalable", 5000, NULL), *g = NULL;

    for (uint64_t nth = 1; g == NULL; nth++) {
        enum status st;

        mem_fail_after(nth);
        st = load(&g, NULL, NULL);
        mem_fail_after(0);
        ck_assert((st == STATUS_OK) == (g != NULL));
        nth += nth / 8;
    }
    ck_assert_uint_eq(count_maybe(g, 0, 5000), 5000);
    filter_free(f);
    filter_free(g);
}
/* ---- headers -------------------------------------------------------------*/

TEST(either_header_will_do_and_without_both_nothing)
{
    struct filter *f = saved("bloom", 1000, NULL), *g = NULL;
    struct checkpoint_info info;
    uint64_t size;

    ck_ok(file_size(path, &size));
    for (int i = 0; i < 2; i++) {
        uint64_t bit = i == 0 ? 8 * 100 : 8 * (size - 100);

        flip(bit);
        ck_ok(load(&g, NULL, &info));
        ck_assert_uint_eq(info.damaged, 0);
        ck_assert_uint_eq(info.bytes, size);
        ck_assert_uint_eq(count_maybe(g, 0, 1000), 1000);
        filter_free(g);
        g = NULL;
        ck_ok(checkpoint_peek(path, &info));
        ck_assert_uint_eq(info.id.generation, 5);
        flip(bit);
    }
    flip(8 * 100);
    flip(8 * (size - 100));
    ck_assert_int_eq(load(&g, NULL, NULL), STATUS_DAMAGED);
    ck_assert_int_eq(checkpoint_peek(path, &info), STATUS_DAMAGED);
    flip(0); /* the magic number, too: not a filter file any more */
    ck_assert_int_eq(load(&g, NULL, NULL), STATUS_FORMAT);
    ck_assert_ptr_null(g);
    filter_free(f);
}

TEST(versions_lengths_and_kinds_of_others_are_refused)
{
    static const struct {
        size_t at;
        char octets[16];
        size_t len;
        enum status want;
    } lies[] = {
        {8, {0}, 4, STATUS_FORMAT},
        {8, {1}, 4, STATUS_OK},
        {8, {2}, 4, STATUS_OK},
        {8, {3}, 4, STATUS_VERSION},
        {8, {0, 1}, 4, STATUS_VERSION},
        {12, {0, 2}, 4, STATUS_FORMAT},
        {16, "redis", 16, STATUS_FORMAT},
        {16, "bloomer", 16, STATUS_FORMAT},
        {16, "bloombloombloom", 16, STATUS_FORMAT},
        {32, "xxh3-128 secret", 16, STATUS_FORMAT},
        {32, "xxh3-128 secret ", 16, STATUS_OK},
        {64, {78}, 8, STATUS_FORMAT},
        {192, {0}, 8, STATUS_DAMAGED},
    };
    struct filter *f = saved("bloom", 1000, NULL), *g = NULL;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        enum status st;

        ck_ok(checkpoint_save(path, f, &id));
        forge(lies[i].at, lies[i].octets, lies[i].len);
        st = load(&g, NULL, NULL);
        if (lies[i].want == STATUS_DAMAGED)
            ck_assert_int_ne(st, STATUS_OK);
        else
            ck_assert_msg(st == lies[i].want, "lie %zu: %d", i, st);
        filter_free(g);
        g = NULL;
    }
    filter_free(f);
}

TEST(only_regular_files_are_read)
{
    struct filter *g = NULL;
    struct checkpoint_info info;

    ck_assert_int_eq(checkpoint_peek(path, &info), STATUS_NOT_FOUND);
    ck_assert_int_eq(checkpoint_load(&g, dir, 77, NULL, 0, NULL),
                     STATUS_FORMAT);
    ck_assert_int_eq(checkpoint_peek(dir, &info), STATUS_FORMAT);
    ck_assert_int_eq(checkpoint_load(&g, "/dev/zero", 77, NULL, 0, NULL),
                     STATUS_FORMAT);
    ck_ok(file_replace(path, bytes_of_str("")));
    ck_assert_int_eq(load(&g, NULL, NULL), STATUS_FORMAT);
    ck_assert_ptr_null(g);
}

/* ---- damage ---------------------------------------------------------------*/

TEST(the_first_damaged_units_are_listed_and_all_are_counted)
{
    struct filter *f = saved("scalable", 100000, NULL), *g = NULL;
    struct checkpoint_info info;

    ck_ok(checkpoint_peek(path, &info));
    ck_assert_uint_eq(info.units, 8192);
    for (uint64_t i = 0; i < 20; i++)
        forge_entry(info.units, 5 + 7 * i, 48, i);
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.damaged, 20);
    ck_assert_uint_eq(info.lost, 0);
    for (uint64_t i = 0; i < CHECKPOINT_LISTED; i++)
        ck_assert_uint_eq(info.listed[i], 5 + 7 * i);
    ck_assert_uint_eq(count_maybe(g, 0, 100000), 100000);
    filter_free(f);
    filter_free(g);
}

TEST(a_file_without_one_whole_unit_is_refused)
{
    struct filter *f = saved("bloom", 100000, NULL), *g = NULL;
    struct checkpoint_info info;

    ck_ok(checkpoint_peek(path, &info));
    ck_assert_uint_eq(info.units, 2);
    forge_entry(info.units, 0, 48, 1);
    ck_ok(load(&g, NULL, &info));
    ck_assert_uint_eq(info.lost, 1);
    filter_free(g);
    g = NULL;
    forge_entry(info.units, 1, 48, 1);
    ck_assert_int_eq(load(&g, NULL, &info), STATUS_DAMAGED);
    ck_assert_ptr_null(g);
    filter_free(f);
}

/* With memory for the half of it, the parts that grow later stay as they
 * are. */
TEST(a_share_of_memory_holds_after_loading_too)
{
    struct filter *f = saved("scalable", 400000, NULL), *g = NULL;
    struct filter_source none = {0};
    struct filter_stats s;

    ck_ok(checkpoint_load(&g, path, id.seed_print, &none, 1 << 20, NULL));
    ck_assert_int_eq(add_range(g, 400000, 1000000), STATUS_LIMIT);
    filter_stats(g, &s);
    ck_assert(s.reduced);
    ck_assert_uint_le(s.bits / 8, (1 << 20) + 4096 * 16);
    ck_assert_uint_eq(count_maybe(g, 0, 1400000), 1400000);
    filter_free(f);
    filter_free(g);
}

TEST(the_seeds_print_tells_crawls_apart)
{
    unsigned char a[DIGEST_SEED_SIZE] = {1}, b[DIGEST_SEED_SIZE] = {2};
    struct digest_key ka, kb;

    digest_key_init(&ka, a);
    digest_key_init(&kb, b);
    ck_assert_uint_eq(checkpoint_seed_print(&ka), checkpoint_seed_print(&ka));
    ck_assert_uint_ne(checkpoint_seed_print(&ka), checkpoint_seed_print(&kb));
}

TEST(what_cannot_be_written_leaves_the_file_before)
{
    struct filter *f = saved("bloom", 1000, NULL), *g = NULL;
    struct filter *other = NULL;
    struct filter_options o = {.kind = "bloom", .expect = 10, .fpr = 0.5};

    ck_ok(filter_new(&other, &o));
    for (uint64_t nth = 1; nth < 6; nth++) {
        enum status st;

        mem_fail_after(nth);
        st = checkpoint_save(path, other, &id);
        mem_fail_after(0);
        if (st == STATUS_OK)
            break;
        ck_assert_int_eq(st, STATUS_NOMEM);
        ck_ok(load(&g, NULL, NULL));
        ck_assert_uint_eq(count_maybe(g, 0, 1000), 1000);
        filter_free(g);
    }
    ck_assert_int_ne(checkpoint_save("/nonexistent/file", f, &id), STATUS_OK);
    filter_free(f);
    filter_free(other);
}

TEST(what_one_filter_lost_is_lost_in_what_it_is_merged_into)
{
    static const char *const kinds[] = {"bloom", "stacked", "counting"};

    for (int i = 0; i < 3; i++) {
        struct filter_options o = {.kind = kinds[i],
                                   .expect = 100000,
                                   .fpr = 0.01,
                                   .keep_nothing = true};
        struct filter *f = NULL, *g = NULL;
        struct filter_stats s;

        ck_ok(filter_new(&f, &o));
        ck_ok(add_range(f, 0, 100000));
        ck_ok(checkpoint_save(path, f, &id));
        flip(8 * 300);
        ck_ok(load(&g, NULL, NULL));
        (void)!filter_merge(f, g);
        filter_stats(f, &s);
        ck_assert_uint_eq(s.lost, 1);
        ck_assert_double_gt(s.fpr_predicted, 0.1);
        ck_assert_uint_eq(count_maybe(f, 0, 100000), 100000);
        filter_free(f);
        filter_free(g);
    }
}
