/* SPDX-License-Identifier: MIT */
/* test_run_file.c - the pages of runs: written, read back, never mistaken. */
#include "storage/db/run_file.h"

#include <fcntl.h>

#include "tests/unit/storage/scratch.h"

#define EACH 1000 /* octets of a block, fewer than it has room for */
#define PAGE ((size_t)RUN_BLOCKS * EACH)

struct written {
    struct run_pages in;
    unsigned char *octets;
    size_t len;
};

static struct written write_run(struct run_file *f, uint64_t *random,
                                size_t len)
{
    struct written w = {.octets = malloc(len + RUN_PAGE), .len = len};

    ck_assert_ptr_nonnull(w.octets);
    for (size_t i = 0; i < len; i++)
        w.octets[i] = (unsigned char)scratch_random(random);
    ck_ok(run_file_write(f, &w.in, w.octets, len, EACH));
    return w;
}

static void expect_run(struct run_file *f, const struct written *w)
{
    unsigned char *all = malloc(w->len + RUN_PAGE), block[RUN_BLOCK];
    uint32_t at = 0;

    ck_assert_ptr_nonnull(all);
    ck_ok(run_file_read_all(f, &w->in, EACH, all, &at));
    ck_assert_mem_eq(all, w->octets, w->len);
    for (uint32_t i = 0; i * (size_t)EACH < w->len; i++) {
        size_t from = (size_t)i * EACH;

        ck_ok(run_file_read(f, &w->in, i, block));
        ck_assert_mem_eq(block, w->octets + from,
                         w->len - from < EACH ? w->len - from : EACH);
    }
    free(all);
}

static void free_run(struct written *w)
{
    free(w->in.at);
    free(w->octets);
}

TEST(the_block_of_another_run_is_never_taken_for_this_ones)
{
    struct scratch dir = scratch_make();
    struct run_file *f = run_file_new(dir.db, true);
    unsigned char block[RUN_BLOCK];
    uint64_t random = 3;
    struct written a, b;

    run_file_claimed(f);
    a = write_run(f, &random, 3 * PAGE);
    b = write_run(f, &random, 3 * PAGE);
    for (uint32_t i = 0; i < 3 * RUN_BLOCKS; i++) {
        struct run_pages other = {.stamp = a.in.stamp,
                                  .count = 3,
                                  .at = b.in.at};
        struct run_pages moved = {.stamp = a.in.stamp,
                                  .count = 2,
                                  .at = a.in.at + 1};

        ck_assert_int_eq(run_file_read(f, &other, i, block), STATUS_DAMAGED);
        if (i < 2 * RUN_BLOCKS)
            ck_assert_int_eq(run_file_read(f, &moved, i, block),
                             STATUS_DAMAGED);
    }
    free_run(&a);
    free_run(&b);
    run_file_free(f);
    scratch_remove(&dir);
}

/* Each octet of a page, the file cut within it, and no file at all. */
TEST(damage_is_told_wherever_it_is)
{
    struct scratch dir = scratch_make();
    struct run_file *f = run_file_new(dir.db, true);
    unsigned char page[RUN_PAGE], all[4 * RUN_PAGE], block[RUN_BLOCK];
    uint64_t random = 3;
    uint32_t at = 0;
    struct written w;
    int fd;

    run_file_claimed(f);
    w = write_run(f, &random, 2 * PAGE);
    fd = open(dir.db, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pread(fd, page, RUN_PAGE, RUN_PAGE), RUN_PAGE);
    for (unsigned i = 0; i < RUN_PAGE; i++) {
        unsigned char changed = page[i] ^ (unsigned char)(1 << i % 8);

        SAME(pwrite(fd, &changed, 1, RUN_PAGE + i), 1);
        for (uint32_t k = 0; k < 2 * RUN_BLOCKS; k++)
            SAME(run_file_read(f, &w.in, k, block),
                 k == RUN_BLOCKS + i / RUN_BLOCK ? STATUS_DAMAGED : STATUS_OK);
        SAME(run_file_read_all(f, &w.in, EACH, all, &at), STATUS_DAMAGED);
        SAME(at, RUN_BLOCKS + i / RUN_BLOCK);
        SAME(pwrite(fd, &page[i], 1, RUN_PAGE + i), 1);
    }
    expect_run(f, &w);
    ck_assert_int_eq(ftruncate(fd, 2 * RUN_PAGE - 1), 0);
    ck_assert_int_eq(run_file_read(f, &w.in, 2 * RUN_BLOCKS - 1, block),
                     STATUS_DAMAGED);
    ck_ok(run_file_read(f, &w.in, 0, block));
    close(fd);
    run_file_free(f);
    unlink(dir.db);
    f = run_file_new(dir.db, false);
    ck_assert_int_eq(run_file_read(f, &w.in, 0, block), STATUS_DAMAGED);
    run_file_free(f);
    free_run(&w);
    scratch_remove(&dir);
}

TEST(claims_find_a_page_named_twice_and_a_file_cut_short)
{
    struct scratch dir = scratch_make();
    struct run_file *f = run_file_new(dir.db, true);
    uint64_t random = 3;
    struct written a;

    run_file_claimed(f);
    a = write_run(f, &random, 5 * PAGE);
    run_file_free(f);
    f = run_file_new(dir.db, true);
    ck_ok(run_file_measure(f));
    ck_assert_uint_eq(run_file_size(f), 5 * RUN_PAGE);
    ck_ok(run_file_claim(f, &a.in, "t", 1));
    ck_assert_int_eq(run_file_claim(f, &a.in, "t", 2), STATUS_DAMAGED);
    run_file_free(f);
    ck_assert_int_eq(truncate(dir.db, 5 * RUN_PAGE - 1), 0);
    f = run_file_new(dir.db, true);
    ck_ok(run_file_measure(f));
    ck_assert_int_eq(run_file_claim(f, &a.in, "t", 1), STATUS_DAMAGED);
    run_file_free(f);
    free_run(&a);
    scratch_remove(&dir);
}

TEST(a_failure_to_write_or_sync_is_final)
{
    struct scratch dir = scratch_make();
    struct run_file *f = run_file_new(dir.db, true);
    unsigned char octets[RUN_PAGE] = "octets";
    struct run_pages in;
    uint64_t random = 3;
    struct written w;

    run_file_claimed(f);
    w = write_run(f, &random, 100);
    scratch_no_sync = true;
    ck_assert_int_eq(run_file_sync(f), STATUS_IO);
    scratch_no_sync = false;
    ck_assert_int_eq(run_file_failed(f), STATUS_IO);
    ck_assert_int_eq(run_file_sync(f), STATUS_IO);
    ck_assert_int_eq(run_file_write(f, &in, octets, 9, EACH), STATUS_IO);
    free_run(&w);
    run_file_free(f);
    f = run_file_new(dir.other, true);
    run_file_claimed(f);
    scratch_limit_files(3 * RUN_PAGE);
    w = write_run(f, &random, 3 * PAGE);
    ck_assert_int_eq(run_file_write(f, &in, octets, 9, EACH), STATUS_FULL);
    ck_assert_int_eq(run_file_failed(f), STATUS_FULL);
    free_run(&w);
    run_file_free(f);
    scratch_remove(&dir);
}

static off_t size_of(const struct scratch *dir)
{
    struct stat s;

    ck_assert_int_eq(stat(dir->db, &s), 0);
    return s.st_size;
}

/* At 8 MiB by 128 pages, of which the last run here leaves 104. */
TEST(a_large_file_grows_in_steps_whose_rest_is_free_to_whoever_opens_it)
{
    const off_t step = 128 * RUN_PAGE;
    struct scratch dir = scratch_make();
    struct run_file *f = run_file_new(dir.db, true);
    uint64_t random = 3;
    struct written runs[3];

    run_file_claimed(f);
    runs[0] = write_run(f, &random, 1000 * PAGE);
    ck_assert_int_eq(size_of(&dir), 1000 * RUN_PAGE);
    runs[1] = write_run(f, &random, 1048 * PAGE);
    ck_assert_int_eq(size_of(&dir), 16 * step);
    runs[2] = write_run(f, &random, 24 * PAGE);
    ck_assert_int_eq(size_of(&dir), 17 * step);
    run_file_free(f);

    f = run_file_new(dir.db, true);
    ck_ok(run_file_measure(f));
    for (size_t i = 0; i < 3; i++) {
        ck_ok(run_file_claim(f, &runs[i].in, "t", 1));
        expect_run(f, &runs[i]);
        free_run(&runs[i]);
    }
    run_file_claimed(f);
    run_file_reuse(f, run_file_commit(f));
    runs[0] = write_run(f, &random, 40 * PAGE);
    ck_assert_uint_eq(runs[0].in.at[0], 2048 + 24);
    ck_assert_int_eq(size_of(&dir), 17 * step);
    free_run(&runs[0]);
    run_file_free(f);
    scratch_remove(&dir);
}

TEST(places_go_into_a_row_and_back_and_others_are_refused)
{
    static uint32_t at[] = {7, 8, 9, 3, 100, 101, UINT32_MAX - 1};
    const struct run_pages r = {.stamp = 77, .count = 7, .at = at};
    static const struct {
        const char *octets;
        size_t len;
        uint32_t pages;
    } wrong[] = {
        {"", 0, 0},
        {"12345678", 8, 0},
        {"12345678", 8, 1},
        {"12345678\0\0\0\1\0\0\0", 15, 1},
        {"12345678\0\0\0\1\0\0\0\0", 16, 1},
        {"12345678\0\0\0\1\0\0\0\2", 16, 1},
        {"12345678\0\0\0\1\0\0\0\2", 16, 3},
        {"12345678\xff\xff\xff\xff\0\0\0\2", 16, 2},
        {"12345678\0\0\0\1\0\0\0\1\0\0\0\2\xff\xff\xff\xff", 24, 2},
    };
    unsigned char packed[64];
    struct run_pages back;
    size_t len = run_pages_pack(&r, packed);

    ck_assert_uint_eq(len, 8 + 4 * 8);
    ck_assert_uint_le(len, run_pages_packed_most(&r));
    ck_assert(run_pages_unpack(&back, bytes_of(packed, len), 7));
    ck_assert_uint_eq(back.stamp, 77);
    ck_assert_mem_eq(back.at, at, sizeof at);
    free(back.at);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!run_pages_unpack(&back,
                                        bytes_of(wrong[i].octets, wrong[i].len),
                                        wrong[i].pages),
                      "%zu", i);
}
