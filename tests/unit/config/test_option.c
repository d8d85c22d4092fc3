/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/unit/config/toy_options.h"
#include "tests/unit/unit.h"

static struct toy toy;
static struct buf error;

static void setup(void)
{
    memset(&toy, 0xa5, sizeof toy); /* as a stack leaves it */
    option_defaults(&toy_table, &toy);
    buf_init(&error, 10000);
}

static void teardown(void)
{
    option_fini(&toy_table, &toy);
    buf_fini(&error);
}

static enum status set(const char *name, const char *text,
                       enum option_source from)
{
    size_t i = option_find(&toy_table, bytes_of_str(name));

    ck_assert_uint_lt(i, toy_table.count);
    buf_clear(&error);
    return option_set(&toy_table, i, &toy, bytes_of_str(text), from, &error);
}

static void refused(const char *name, const char *text, const char *why)
{
    ck_assert_int_eq(set(name, text, OPTION_FROM_LINE), STATUS_FORMAT);
    ck_assert_str_eq(buf_str(&error), why);
}

FIXTURE(setup, teardown);

TEST(defaults_come_from_their_text)
{
    ck_assert(!toy.loud);
    ck_assert_int_eq(toy.count, -1); /* none is one less than the least */
    ck_assert_int_eq(toy.wait_ms, 1000);
    ck_assert_uint_eq(toy.room, 4 << 20);
    ck_assert_double_eq(toy.rate, 0.001);
    ck_assert_int_eq(toy.colour, TOY_GREEN);
    ck_assert_ptr_null(toy.name);
    ck_assert_uint_eq(toy.item.count, 0);
    ck_assert_uint_eq(toy.kind.count, 2);
    ck_assert_str_eq(toy.kind.item[1], "img");
    for (size_t i = 0; i < toy_table.count; i++)
        ck_assert_int_eq(option_source(&toy_table, i, &toy),
                         OPTION_FROM_DEFAULT);
}

TEST(takes_values_of_every_type)
{
    ck_ok(set("loud", "Yes", OPTION_FROM_LINE));
    ck_ok(set("count", "0", OPTION_FROM_LINE));
    ck_ok(set("wait", "1.5s", OPTION_FROM_LINE));
    ck_ok(set("room", "none", OPTION_FROM_LINE));
    ck_ok(set("rate", "0.5", OPTION_FROM_LINE));
    ck_ok(set("colour", "red", OPTION_FROM_LINE));
    ck_ok(set("name", "J\xc3\xbcrgen", OPTION_FROM_LINE));
    ck_assert(toy.loud);
    ck_assert_int_eq(toy.count, 0);
    ck_assert_int_eq(toy.wait_ms, 1500);
    ck_assert_uint_eq(toy.room, 0);
    ck_assert_double_eq(toy.rate, 0.5);
    ck_assert_int_eq(toy.colour, TOY_RED);
    ck_assert_str_eq(toy.name, "J\xc3\xbcrgen");
    ck_ok(set("name", "", OPTION_FROM_LINE));
    ck_assert_ptr_null(toy.name);
}

TEST(a_switch_with_more_positions_takes_true_and_false)
{
    ck_ok(set("light", "true", OPTION_FROM_FILE));
    ck_assert_int_eq(toy.light, TOY_BRIGHT);
    ck_ok(set("light", "dim", OPTION_FROM_FILE));
    ck_assert_int_eq(toy.light, TOY_DIM);
    ck_ok(set("light", "no", OPTION_FROM_FILE));
    ck_assert_int_eq(toy.light, TOY_OFF);
    ck_assert_int_eq(set("colour", "true", OPTION_FROM_FILE), STATUS_FORMAT);
}

TEST(says_what_was_expected)
{
    refused("count", "deep",
            "'deep' is not a count; it takes a whole number, or none");
    refused("count", "11", "'11' is out of range; it takes 0 to 10, or none");
    refused("count", "-1",
            "'-1' is not a count; it takes a whole number, or none");
    refused("count", "99999999999999999999",
            "'99999999999999999999' is out of range; it takes 0 to 10, or "
            "none");
    refused("wait", "2m",
            "'2m' is out of range; it takes 0s to 1m, ever or never");
    refused(
        "wait", "soon",
        "'soon' is not a time; it takes seconds, or a number with ms, s, m, h "
        "or d, such as 1.5s, "
        "ever or never");
    refused("room", "0",
            "'0' is out of range; it takes 1 to 1000000000, or none");
    refused("rate", "0.6", "'0.6' is out of range; it takes 1e-09 to 0.5");
    refused("colour", "blue",
            "'blue' is not known; it takes one of red, green");
    refused("kind", "a,imq",
            "'imq' is not known; it takes one of a, img, meta");
    refused("loud", "maybe", "'maybe' is neither; it takes true or false");
    refused("name", "a\nb", "it holds a control character (at offset 1)");
    refused("name", "a\xc2\x85", /* NEL ends a line, too */
            "it holds a control character (at offset 1)");
    refused("name", "\xff", "the value is not UTF-8");
    ck_assert_int_eq(toy.count, -1); /* untouched by all of these */
    ck_assert_uint_eq(toy.kind.count, 2);
}

TEST(a_list_gathers_within_a_source_and_is_replaced_by_a_stronger_one)
{
    ck_ok(set("kind", "meta", OPTION_FROM_FILE));
    ck_assert_uint_eq(toy.kind.count, 1);
    ck_ok(set("kind", "a , img,", OPTION_FROM_LINE));
    ck_assert_uint_eq(toy.kind.count, 2);
    ck_assert_str_eq(toy.kind.item[0], "a");
    ck_ok(set("kind", "meta", OPTION_FROM_LINE));
    ck_assert_uint_eq(toy.kind.count, 3);
    ck_ok(set("kind", "", OPTION_FROM_LINE));
    ck_assert_uint_eq(toy.kind.count, 0);
}

TEST(every_value_reads_back_from_its_text)
{
    static const char *const values[][2] = {
        {"loud", "true"},   {"count", "none"}, {"count", "7"},
        {"wait", "1500ms"}, {"wait", "ever"},  {"wait", "never"},
        {"room", "3K"},     {"room", "none"},  {"rate", "0.25"},
        {"colour", "red"},  {"name", "x y"},
    };

    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        size_t i = option_find(&toy_table, bytes_of_str(values[k][0]));
        struct buf text;

        buf_init(&text, 100);
        ck_ok(set(values[k][0], values[k][1], OPTION_FROM_LINE));
        option_text(&toy_specs[i], &toy, 0, &text);
        ck_assert_str_eq(buf_str(&text), values[k][1]);
        buf_fini(&text);
    }
}

static void nearest(const char *text, const char *name, bool alike)
{
    bool a = !alike;

    ck_assert_str_eq(option_nearest(&toy_table, bytes_of_str(text),
                                    OPTION_LINE_ONLY, &a),
                     name);
    ck_assert_int_eq(a, alike);
}

TEST(names_the_nearest_option)
{
    nearest("cuont", "count", true);
    nearest("COLOR", "colour", true);
    nearest("wai", "wait", true);
    nearest("col", "colour", true); /* its beginning */
    nearest("filr", "kind", false); /* not file: it is left out */
    nearest("quux", "loud", false);
}

/* ---- words that are alike ---- */

static size_t distance(const char *a, const char *b)
{
    return nearest_distance(bytes_of_str(a), bytes_of_str(b));
}

TEST(ours_case_and_underscores_cost_nothing)
{
    ck_assert_uint_eq(distance("Max_Body", "max-body"), 0);
}

TEST(knows_what_may_have_been_meant)
{
    struct bytes word = bytes_of_str("max-redirects");

    ck_assert(nearest_is_alike(bytes_of_str("max-redirect"), word));
    ck_assert(nearest_is_alike(bytes_of_str("max-red"), word));
    ck_assert(!nearest_is_alike(bytes_of_str("warc"), word));
    ck_assert(!nearest_is_alike(bytes_of_str("ma"), word));
}

/* The plain recursive definition, against the table. */
static size_t slow(struct bytes a, struct bytes b)
{
    size_t best, d;

    if (a.len == 0 || b.len == 0)
        return a.len + b.len;
    best = slow(bytes_of(a.at, a.len - 1), b) + 1;
    d = slow(a, bytes_of(b.at, b.len - 1)) + 1;
    best = d < best ? d : best;
    d = slow(bytes_of(a.at, a.len - 1), bytes_of(b.at, b.len - 1)) +
        (a.at[a.len - 1] != b.at[b.len - 1]);
    best = d < best ? d : best;
    if (a.len > 1 && b.len > 1 && a.at[a.len - 1] == b.at[b.len - 2] &&
        a.at[a.len - 2] == b.at[b.len - 1]) {
        d = slow(bytes_of(a.at, a.len - 2), bytes_of(b.at, b.len - 2)) + 1;
        best = d < best ? d : best;
    }
    return best;
}

TEST(agrees_with_the_recursive_definition)
{
    uint32_t random = 1;

    for (int round = 0; round < 300; round++) {
        char a[6], b[6];
        size_t n[2];

        for (int k = 0; k < 2; k++) {
            random = random * 1664525 + 1013904223;
            n[k] = (random >> 16) % 6;
            for (size_t i = 0; i < n[k]; i++) {
                random = random * 1664525 + 1013904223;
                (k == 0 ? a : b)[i] = (char)('a' + (random >> 16) % 3);
            }
        }
        ck_assert_uint_eq(nearest_distance(bytes_of(a, n[0]),
                                           bytes_of(b, n[1])),
                          slow(bytes_of(a, n[0]), bytes_of(b, n[1])));
    }
}
