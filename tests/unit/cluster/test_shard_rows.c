/* SPDX-License-Identifier: MIT */
/* test_shard_rows.c - the directory of a shard, before Kafka is asked. */
#include "cluster/shard_rows.h"

#include "base/clock.h"
#include "base/file/file.h"
#include "storage/db/manifest.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

#define DAY (INT64_C(24) * 60) /* minutes */

static const struct age {
    int64_t minutes;
    bool is_fresh;
} ages[] = {{0, true},         {-10, true},   {14 * DAY, true},
            {16 * DAY, false}, {-DAY, false}, {-40 * DAY, false}};

/* No Kafka is asked: the settings for it are wrong. */
TEST_EACH(one_that_is_old_or_from_the_future_is_read_anew, ages)
{
    static const char *const wrong[] = {"no.such=1"};
    const struct kafka_access nobody = {.brokers = "127.0.0.1:9",
                                        .properties = {wrong, 1}};
    struct manifest m = {.generation = 1,
                         .written_at_ms =
                             clock_wall_ms() - ages[_i].minutes * 60000,
                         .state = "stopped",
                         .store_id = "0123456789abcdef0123456789abcdef"};
    struct scratch dir = scratch_make();
    struct buf note, why;
    char path[128];
    uint64_t size;
    bool there;

    scratch_quiet();
    buf_init(&note, 1000);
    buf_init(&why, 1000);
    snprintf(path, sizeof path, "%s/manifest", dir.dir);
    ck_ok(manifest_save(path, &m));
    snprintf(path, sizeof path, "%s/frontier.db", dir.dir);
    ck_ok(file_replace(path, bytes_of_str("rows")));
    ck_assert_int_ne(shard_rows_copy(&nobody, "docs", 0, dir.dir, &there, &note,
                                     &why),
                     STATUS_OK);
    ck_assert_int_eq(file_size(path, &size) == STATUS_OK, ages[_i].is_fresh);
    buf_fini(&note);
    buf_fini(&why);
    scratch_remove(&dir);
}
