/*
 * toy_options.h - a small table with an option of every type, for tests.
 */
#ifndef URLWEIR_TESTS_CONFIG_TOY_OPTIONS_H
#define URLWEIR_TESTS_CONFIG_TOY_OPTIONS_H

#include <stddef.h>

#include "config/option.h"

enum toy_colour { TOY_RED, TOY_GREEN };
enum toy_light { TOY_OFF, TOY_BRIGHT, TOY_DIM };

struct toy {
    bool loud;
    int64_t count, wait_ms;
    uint64_t room;
    double rate;
    enum toy_colour colour;
    enum toy_light light;
    char *name, *file;
    struct option_list item, kind;
    uint8_t from[11];
};

static const char *const toy_colours[] = {"red", "green", NULL};
static const char *const toy_lights[] = {"off", "bright", "dim", NULL};
static const char *const toy_kinds[] = {"a", "img", "meta", NULL};

#define TOY_AT(f) .at = offsetof(struct toy, f)
/* A row is read as one, not field by field. */
/* clang-format off */
static const struct option_spec toy_specs[] = {
    {.name = "loud", .letter = 'l', .type = OPTION_FLAG, TOY_AT(loud),
     .section = "Toys", .help = "make noise"},
    {.name = "count", .letter = 'c', .type = OPTION_COUNT, TOY_AT(count),
     .fallback = "none", .min = 0, .max = 10, .bare = "none",
     .section = "Toys", .arg = "N", .help = "how many"},
    {.name = "wait", .letter = 'w', .type = OPTION_TIME, TOY_AT(wait_ms),
     .fallback = "1s", .min = 0, .max = 60000, .bare = "ever",
     .other = "never", .section = "Toys", .arg = "TIME", .help = "how long"},
    {.name = "room", .type = OPTION_SIZE, TOY_AT(room), .fallback = "4M",
     .min = 1, .max = 1e9, .bare = "none", .section = "Toys", .arg = "SIZE",
     .help = "how large"},
    {.name = "rate", .type = OPTION_FRACTION, TOY_AT(rate),
     .fallback = "0.001", .min = 1e-9, .max = 0.5, .section = "Toys",
     .arg = "RATE", .help = "how often"},
    {.name = "colour", .type = OPTION_CHOICE, TOY_AT(colour),
     .fallback = "green", .words = toy_colours, .section = "More",
     .help = "which"},
    {.name = "name", .letter = 'n', .type = OPTION_TEXT, TOY_AT(name),
     .section = "More", .arg = "TEXT", .help = "whose"},
    {.name = "file", .type = OPTION_TEXT, TOY_AT(file),
     .flags = OPTION_LINE_ONLY, .section = "More", .arg = "FILE",
     .help = "where"},
    {.name = "item", .letter = 'i', .type = OPTION_LIST, TOY_AT(item),
     .section = "More", .arg = "TEXT", .help = "things"},
    {.name = "kind", .type = OPTION_LIST, TOY_AT(kind), .fallback = "a,img",
     .words = toy_kinds, .flags = OPTION_COMMAS, .section = "More",
     .arg = "KINDS", .help = "kinds of things"},
    {.name = "light", .type = OPTION_CHOICE, TOY_AT(light), .fallback = "off",
     .words = toy_lights, .flags = OPTION_SWITCH, .section = "More",
     .help = "how bright"},
};
/* clang-format on */

static const struct option_table toy_table = {
    .spec = toy_specs,
    .count = sizeof toy_specs / sizeof *toy_specs,
    .from = offsetof(struct toy, from),
    .size = sizeof(struct toy),
};

#endif
