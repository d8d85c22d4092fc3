/* SPDX-License-Identifier: MIT */
/* cmd_dedupe.c - `urlweir dedupe`: prints each line whose URL is new. */
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/dedupe/dedupe_run.h"
#include "frontier/dedupe/dedupe.h"

enum invalid_choice { INVALID_DROP, INVALID_KEEP };

struct dedupe_settings {
    bool raw, canonical;
    enum invalid_choice invalid;
    char *state;
    uint64_t memory;
    int64_t threads;
    bool verify;
    bool json, quiet;
    uint8_t from[9];
};

static const char *const invalid_words[] = {"drop", "keep", NULL};

#define FIELD(name) offsetof(struct dedupe_settings, name)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "raw", .type = OPTION_FLAG, .at = FIELD(raw), .section = "Lines",
     .help = "compare lines by their bytes, whether they are URLs or not"},
    {.name = "canonical", .type = OPTION_FLAG, .at = FIELD(canonical),
     .section = "Lines",
     .help = "print the canonical form instead of the line itself"},
    {.name = "invalid", .type = OPTION_CHOICE, .at = FIELD(invalid),
     .fallback = "drop", .words = invalid_words, .section = "Lines",
     .help = "what to do with lines that are not http or https URLs, or are "
             "longer than 1 MiB; keep prints each of them"},
    {.name = "state", .type = OPTION_TEXT, .at = FIELD(state), .section = "Set",
     .arg = "DIR",
     .help = "keep the set in DIR; a later run prints only what no run has "
             "printed"},
    {.name = "memory", .type = OPTION_SIZE, .at = FIELD(memory),
     .fallback = "512M", .min = (double)DEDUPE_MEMORY_LEAST, .max = 1e15,
     .section = "Set", .arg = "SIZE",
     .help = "memory to stay below; what does not fit goes to DIR, or to an "
             "unnamed file in $TMPDIR"},
    {.name = "verify", .type = OPTION_FLAG, .at = FIELD(verify),
     .section = "Set",
     .help = "first read all of the set in DIR and check it"},
    {.name = "threads", .type = OPTION_COUNT, .at = FIELD(threads),
     .fallback = "cores", .bare = "cores", .min = 1, .max = 256,
     .section = "Set", .arg = "N",
     .help = "threads that read and parse; more than 4 bring nothing"},
    {.name = "json", .type = OPTION_FLAG, .at = FIELD(json),
     .section = "Output",
     .help = "the summary on stderr as one JSON object, and no progress "
             "(docs/formats/dedupe.md)"},
    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, .at = FIELD(quiet),
     .section = "Output",
     .help = "errors only: no progress, no summary"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct dedupe_settings);

const struct usage dedupe_usage = {
    .name = "dedupe",
    .synopsis = "dedupe [FILE...] [options]",
    .about = "Prints each line of the files, or of stdin, whose canonical URL "
             "has not been seen before, unchanged and in order. Exact, also "
             "for lists larger than memory. Files may be gzip, zstd or "
             "bzip2; `-` is stdin.",
    .table = &table,
    .least = 0,
    .most = SIZE_MAX,
    .operand = "a file",
};

static unsigned threads_of(const struct dedupe_settings *s)
{
    long n = s->threads > 0 ? (long)s->threads : sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (unsigned)n : 1;
}

#define ROOM_FOR_HUGE_PAGES (UINT64_C(128) << 20)

/* The kernel may use huge pages unasked, for the heap too; then some MiB more
 * are resident than were ever written. If little memory is allowed, we disable
 * them; with so little memory they would save no time either. */
static void keep_within(uint64_t memory)
{
    if (memory < ROOM_FOR_HUGE_PAGES)
        (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

int cmd_dedupe(int argc, char **argv)
{
    struct dedupe_settings s;
    struct option_list files = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&dedupe_usage, argc, argv, &s, &files, &code))
        return code;
    if (s.raw && s.canonical) {
        code = usage_error(&dedupe_usage,
                           "--raw and --canonical contradict each "
                           "other: --raw compares bytes, which have "
                           "no canonical form");
    } else if (s.verify && s.state == NULL) {
        code = usage_error(&dedupe_usage,
                           "--verify is about the set of --state DIR");
    } else {
        struct dedupe_command c = {
            .files = files.item,
            .file_count = files.count,
            .dir = s.state,
            .memory = s.memory,
            .threads = threads_of(&s),
            .raw = s.raw,
            .canonical = s.canonical,
            .keep_invalid = s.invalid == INVALID_KEEP,
            .verify = s.verify,
            .json = s.json,
            .quiet = s.quiet,
        };

        keep_within(c.memory);
        code = (int)dedupe_run(&c);
    }
    option_list_free(&files);
    option_fini(&table, &s);
    return code;
}
