/*
 * option.h - options as data: name, type, bounds and default.
 *
 * A command describes its options once, as a table of struct option_spec over
 * the fields of a plain struct. Everything else is made from that table: the
 * command line and its help (cli/command_line.h), reading and writing YAML
 * (config/config.h), and the difference between two sets of settings.
 *
 * Values come as text from four sources, each overriding those before it: the
 * default, the crawl being resumed, a configuration file, the command line. The
 * source of each option's value is remembered.
 *
 * Threads: nothing is shared; settings are made at start and only read later.
 */
#ifndef URLWEIR_CONFIG_OPTION_H
#define URLWEIR_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

enum option_type {
    OPTION_FLAG,     /* bool; --name and --no-name, true and false in YAML */
    OPTION_COUNT,    /* int64_t; a whole number */
    OPTION_SIZE,     /* uint64_t, bytes; "512", "4M", "1.5G" (K = 1024) */
    OPTION_TIME,     /* int64_t, milliseconds; "20", "1.5s", "5m", "100ms" */
    OPTION_FRACTION, /* double */
    OPTION_CHOICE,   /* an enum: the index into `words` */
    OPTION_TEXT,     /* char *, NULL when empty */
    OPTION_LIST      /* struct option_list */
};

/* Strings in the order given; the settings own them. */
struct option_list {
    const char **item; /* NULL while empty */
    size_t count;
};
void option_list_add(struct option_list *l, struct bytes text); /* a copy */
void option_list_free(struct option_list *l); /* empty again */

enum option_flags {
    OPTION_COMMAS = 1,     /* LIST: "a,b" is two items */
    OPTION_FILE_ONLY = 2,  /* in files only: no --name */
    OPTION_LINE_ONLY = 4,  /* not in files, if the table is for files, too */
    OPTION_OF_RUN = 8,     /* of one run, not of the crawl: not stored */
    OPTION_ON_START = 16,  /* cannot change when a crawl is resumed */
    OPTION_SECRET = 32,    /* its value is never shown to others */
    OPTION_ON_RESUME = 64, /* has a meaning only when a crawl is resumed */
    OPTION_TWICE = 128,  /* FLAG: given twice, as in -vv, it also sets the next
                            option of the table */
    OPTION_SWITCH = 256, /* CHOICE: a switch with more than two positions.
                            --NAME alone, or true, is words[1]; --no-NAME, or
                            false, is words[0] */
    OPTION_OF_WORKER = 512 /* each worker of a crawl in a cluster has its own */
};

struct option_spec {
    const char *name; /* long name, and the key in YAML */
    char letter;      /* short form, or 0 */
    enum option_type type;
    size_t at;            /* offset of the field */
    const char *fallback; /* the default as a user would write it, or NULL */
    double min, max;      /* COUNT, SIZE (bytes), TIME (ms), FRACTION */
    const char *bare;     /* word for the value min - 1: "none", "cores"; NULL:
                             there is none */
    const char *other;    /* word for the value min - 2 of a COUNT or TIME that
                             has `bare` too; NULL: there is none */
    const char *const
        *words;          /* CHOICE, and LIST of known words; ends in NULL */
    unsigned flags;      /* enum option_flags */
    const char *section; /* heading in help; equal ones are adjacent */
    const char *arg;     /* name of its value in help: "N", "SIZE" */
    const char *alone;   /* TEXT: the value of --NAME alone; NULL: it needs one.
                            Before a URL or an option it stands alone */
    const char *help;    /* a phrase, without its default */
};

enum option_source {
    OPTION_FROM_DEFAULT,
    OPTION_FROM_CRAWL, /* the settings of the crawl that is resumed */
    OPTION_FROM_FILE,
    OPTION_FROM_LINE
};

struct option_table {
    const struct option_spec *spec;
    size_t count;
    size_t from; /* offset of a uint8_t[count], each an enum option_source */
    size_t size; /* of the settings */
};

/* The table of an array of rows for a settings struct, whose member `from` must
 * have room for each: without it this does not compile. */
#define OPTION_TABLE(rows, type)                                               \
    {                                                                          \
        rows,                                                                  \
            sizeof(rows) / sizeof *(rows) +                                    \
                0 * sizeof(char[sizeof(rows) / sizeof *(rows) <=               \
                                        sizeof(((type *)0)->from)              \
                                    ? 1                                        \
                                    : -1]),                                    \
            offsetof(type, from), sizeof(type)                                 \
    }

/* Set every field to its default; the fields are overwritten, not freed. */
void option_defaults(const struct option_table *t, void *settings);
/* Free texts and lists, and zero those fields. */
void option_fini(const struct option_table *t, void *settings);
/* A copy with texts and lists of its own; *out is overwritten. `size` is that
 * of the settings struct. */
void option_copy(const struct option_table *t, void *out, const void *settings,
                 size_t size);

/* The index of `name` in the table; t->count: not found. */
size_t option_find(const struct option_table *t, struct bytes name);
size_t option_find_letter(const struct option_table *t, char letter);

/* Set option `i` from text. For a list, adds items, after dropping those of an
 * earlier source; empty text empties it. STATUS_FORMAT: `error` gets what is
 * wrong and what was expected, without the option's name; the field is
 * untouched. */
MUST_CHECK enum status option_set(const struct option_table *t, size_t i,
                                  void *settings, struct bytes text,
                                  enum option_source from, struct buf *error);
/* Empties list `i`, with the source `from`. */
void option_clear(const struct option_table *t, size_t i, void *settings,
                  enum option_source from);

/* Option `i` of `settings` becomes what it is in `other`, as said by `from`. */
void option_assign(const struct option_table *t, size_t i, void *settings,
                   const void *other, enum option_source from);

enum option_source option_source(const struct option_table *t, size_t i,
                                 const void *settings);
/* Was it given for this run, in a file or on the command line? */
bool option_given(const struct option_table *t, size_t i, const void *settings);

/* The value as a user would write it: "5m", "4M", "none", "host"; of a list
 * item `item`. option_set reads it back. */
void option_text(const struct option_spec *s, const void *settings, size_t item,
                 struct buf *out);
/* Number of items of a list, 1 for any other type. */
size_t option_items(const struct option_spec *s, const void *settings);
/* As option_text, but for people: lists as "a, b", an empty value as "none". */
void option_show(const struct option_spec *s, const void *settings,
                 struct buf *out);
bool option_equal(const struct option_spec *s, const void *a, const void *b);

/* The name nearest to `text`, without options that have any flag in `without`;
 * NULL only if none is left. *alike: the user may have meant it. */
const char *option_nearest(const struct option_table *t, struct bytes text,
                           unsigned without, bool *alike);

/* The number of insertions, deletions, changes and swaps of neighbours from `a`
 * to `b` (optimal string alignment distance); `_` and `-` count as one, so does
 * ASCII case. Texts longer than 64 octets are as far away as they are long. */
size_t nearest_distance(struct bytes a, struct bytes b);

/* Might a user who wrote `text` have meant `word`? True if at most a third of
 * it is wrong, or it is the beginning of the word. */
bool nearest_is_alike(struct bytes text, struct bytes word);

#endif
