/* SPDX-License-Identifier: MIT */
/* test_manifest.c - the manifest: its text, what it refuses, atomic writes. */
#include "storage/db/manifest.h"
#include "tests/unit/storage/scratch.h"

static struct manifest example(void)
{
    return (struct manifest){
        .generation = 17,
        .urls = 123456,
        .fetches = 7890,
        .store_id = "0123456789abcdef0123456789abcdef",
        .written_at_ms = 1767225600000,
        .clean = true,
        .state = "finished",
    };
}

/* The checksum comes from xxhsum -H3 over the lines before it. */
static const char example_text[] = "urlweir-manifest 1\n"
                                   "store 0123456789abcdef0123456789abcdef\n"
                                   "generation 17\n"
                                   "urls 123456\n"
                                   "fetches 7890\n"
                                   "written_ms 1767225600000\n"
                                   "clean 1\n"
                                   "state finished\n"
                                   "xxh3 1ed81f11c8fe8d35\n";

TEST(its_text_is_as_documented)
{
    struct manifest m = example();
    struct buf b;

    buf_init(&b, 4096);
    manifest_format(&m, &b);
    ck_assert_str_eq(buf_str(&b), example_text);
    buf_fini(&b);
}

TEST(what_was_saved_is_loaded)
{
    struct scratch dir = scratch_make();
    struct manifest m = example(), r;

    ck_assert_int_eq(manifest_load(dir.db, &r), STATUS_NOT_FOUND);
    for (int i = 0; i < 4; i++) {
        static const char *const states[] = {"new", "running", "stopped",
                                             "finished"};

        strcpy(m.state, states[i]);
        m.clean = i % 2 == 0;
        m.urls = i == 3 ? UINT64_MAX : m.urls + 1;
        ck_ok(manifest_save(dir.db, &m));
        ck_ok(manifest_load(dir.db, &r));
        ck_assert_str_eq(r.state, m.state);
        ck_assert_str_eq(r.store_id, m.store_id);
        ck_assert_uint_eq(r.generation, m.generation);
        ck_assert_uint_eq(r.urls, m.urls);
        ck_assert_uint_eq(r.fetches, m.fetches);
        ck_assert_int_eq(r.written_at_ms, m.written_at_ms);
        ck_assert_int_eq(r.clean, m.clean);
    }
    scratch_remove(&dir);
}

TEST(refuses_to_save_what_it_could_not_load)
{
    struct scratch dir = scratch_make();
    struct manifest m = example();

    strcpy(m.state, "asleep");
    ck_assert_int_eq(manifest_save(dir.db, &m), STATUS_ARG);
    m = example();
    m.store_id[3] = 'X';
    ck_assert_int_eq(manifest_save(dir.db, &m), STATUS_ARG);
    ck_assert_int_eq(access(dir.db, F_OK), -1);
    scratch_remove(&dir);
}

TEST(every_flipped_bit_and_every_cut_is_found)
{
    struct manifest m;
    char text[sizeof example_text];
    size_t len = sizeof example_text - 1;

    for (size_t i = 0; i < len * 8; i++) {
        memcpy(text, example_text, len);
        text[i / 8] = (char)(text[i / 8] ^ (1 << (i % 8)));
        if (manifest_parse(bytes_of(text, len), &m) == STATUS_OK)
            ck_abort_msg("bit %zu was not missed", i);
    }
    for (size_t n = 0; n < len; n++)
        SAME(manifest_parse(bytes_of(example_text, n), &m) == STATUS_OK, false);
    ck_ok(manifest_parse(bytes_of(example_text, len), &m));
}

/* A newer release keeps the first and last lines, so this one can say that the
 * file is newer instead of calling it damaged. */
TEST(a_newer_format_is_told_from_a_damaged_one)
{
    static const char newer[] = "urlweir-manifest 2\nsomething else\n"
                                "xxh3 ea916782f4f92892\n";
    static const char wrong[] = "urlweir-manifest 2\nsomething else\n"
                                "xxh3 0000000000000000\n";
    static const char other[] = "WARC/1.1\r\n";
    struct manifest m;

    ck_assert_int_eq(manifest_parse(bytes_of_str(newer), &m), STATUS_VERSION);
    ck_assert_int_eq(manifest_parse(bytes_of_str(wrong), &m), STATUS_DAMAGED);
    ck_assert_int_eq(manifest_parse(bytes_of_str(other), &m), STATUS_FORMAT);
    ck_assert_int_eq(manifest_parse(bytes_of("", 0), &m), STATUS_FORMAT);
}

TEST(a_file_too_long_is_not_one)
{
    struct scratch dir = scratch_make();
    struct manifest m;
    FILE *f = fopen(dir.db, "wb");

    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < 5000; i++)
        fputc('x', f);
    fclose(f);
    ck_assert_int_eq(manifest_load(dir.db, &m), STATUS_FORMAT);
    scratch_remove(&dir);
}
