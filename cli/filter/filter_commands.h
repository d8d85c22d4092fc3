/*
 * filter_commands.h - the parts of `urlweir filter`.
 */
#ifndef URLWEIR_CLI_FILTER_FILTER_COMMANDS_H
#define URLWEIR_CLI_FILTER_FILTER_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command_line.h"
#include "filter/redis/redis_bloom.h"

extern const struct usage filter_create_usage;
extern const struct usage filter_add_usage;
extern const struct usage filter_check_usage;
extern const struct usage filter_remove_usage;
extern const struct usage filter_merge_usage;
extern const struct usage filter_info_usage;
extern const struct usage filter_predict_usage;
extern const struct usage filter_bench_usage;
extern const struct usage filter_rebuild_usage;
extern const struct usage filter_drop_usage;

/* ---- filters in Redis, behind create and info ---- */

/* Makes a new, empty filter; of `o` all is taken but place, mode and patience.
 * Returns an exit status; errors were printed. */
int filter_redis_create(const char *command, const char *url,
                        struct redis_bloom_options o);
int filter_redis_info(const char *command, const char *url, bool json);

/* The words of --kind, ending in NULL: the kinds that can be saved in a
 * file. */
extern const char *const filter_kind_words[];

/* Option rows that several subcommands share; `settings` is a struct with a
 * field of that name. */
#define FILTER_CAPACITY_ROW(settings, what)                                    \
    {                                                                          \
        .name = "capacity", .type = OPTION_COUNT,                              \
        .at = offsetof(settings, capacity), .fallback = "0", .min = 0,         \
        .max = 0x1p40, .section = "Filter", .arg = "N", .help = (what)         \
    }
#define FILTER_FPR_ROW(settings)                                               \
    {                                                                          \
        .name = "fpr", .type = OPTION_FRACTION, .at = offsetof(settings, fpr), \
        .fallback = "0.001", .min = 1e-9, .max = 0.5, .section = "Filter",     \
        .arg = "P", .help = "fraction of new keys it may call `maybe`"         \
    }
#define FILTER_JSON_ROW(settings)                                              \
    {                                                                          \
        .name = "json", .type = OPTION_FLAG, .at = offsetof(settings, json),   \
        .section = "Output",                                                   \
        .help = "one JSON object (docs/formats/filter.md)"                     \
    }

#endif
