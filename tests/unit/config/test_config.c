/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "tests/unit/config/toy_options.h"
#include "tests/unit/unit.h"

static struct toy toy;
static struct buf error;

static void setup(void)
{
    option_defaults(&toy_table, &toy);
    buf_init(&error, 100000);
}

static void teardown(void)
{
    option_fini(&toy_table, &toy);
    buf_fini(&error);
}

static enum status read_bytes(struct bytes yaml)
{
    buf_clear(&error);
    return config_read(&toy_table, &toy, yaml, "toy.yaml", OPTION_FROM_FILE,
                       &error);
}

static void accepted(const char *yaml)
{
    enum status st = read_bytes(bytes_of_str(yaml));

    ck_assert_msg(st == STATUS_OK, "%s", buf_str(&error));
    ck_assert_str_eq(buf_str(&error), "");
}

static void refused(const char *yaml, const char *why)
{
    ck_assert_int_eq(read_bytes(bytes_of_str(yaml)), STATUS_FORMAT);
    ck_assert_str_eq(buf_str(&error), why);
}

FIXTURE(setup, teardown);

TEST(reads_every_type)
{
    accepted("# toys\n"
             "loud: true\n"
             "count: 7\n"
             "wait: 1.5s   # a comment\n"
             "room: 64M\n"
             "rate: 1e-3\n"
             "colour: red\n"
             "name: \"a: b\"\n"
             "item:\n"
             "  - '^https?://x/{1,2}'\n"
             "  - two\n"
             "kind: [img, \"meta\"]\n");
    ck_assert(toy.loud);
    ck_assert_int_eq(toy.count, 7);
    ck_assert_int_eq(toy.wait_ms, 1500);
    ck_assert_uint_eq(toy.room, UINT64_C(64) << 20);
    ck_assert_double_eq(toy.rate, 0.001);
    ck_assert_int_eq(toy.colour, TOY_RED);
    ck_assert_str_eq(toy.name, "a: b");
    ck_assert_uint_eq(toy.item.count, 2);
    ck_assert_str_eq(toy.item.item[0], "^https?://x/{1,2}");
    ck_assert_uint_eq(toy.kind.count, 2);
    ck_assert_str_eq(toy.kind.item[1], "meta");
}

/* Promise (Commands and options): YAML errors name file, line, column and
 * the nearest key. */
TEST(an_unknown_key_is_named_with_its_place_and_the_nearest)
{
    refused("loud: true\n  \ncuont: 3\n",
            "toy.yaml:3:1: no setting 'cuont'; did you mean 'count'?");
    refused("loud: true\nquux: 3\n",
            "toy.yaml:2:1: no setting 'quux'; the nearest is 'loud'");
    refused("{loud: true, Colour: red}",
            "toy.yaml:1:14: no setting 'Colour'; did you mean 'colour'?");
}

TEST(a_bad_value_is_named_with_its_place)
{
    refused("\ncount:   deep\n",
            "toy.yaml:2:10: count: 'deep' is not a count; it takes a whole "
            "number, or none");
    refused("kind:\n  - a\n  - imq\n",
            "toy.yaml:3:5: kind: 'imq' is not known; it takes one of a, img, "
            "meta");
    refused(
        "count: ''\n",
        "toy.yaml:1:8: count: '' is not a count; it takes a whole number, or "
        "none");
    refused("count:\nwait: 3\n",
            "toy.yaml:1:7: 'count' has no value; write \"\" for an empty "
            "one");
    refused("item: [a, '']\n", "toy.yaml:1:11: item: an item is empty");
    refused("item:\n- a\n-\n", "toy.yaml:3:2: item: an item is empty");
    refused("name: \"a\\nb\"\n",
            "toy.yaml:1:7: name: it holds a control character (at offset 1)");
}

TEST(a_value_of_the_wrong_shape_is_refused)
{
    refused("count: [1]\n", "toy.yaml:1:8: count: takes one value, not a list");
    refused("count: {a: 1}\n",
            "toy.yaml:1:8: count: takes one value, not a mapping");
    refused("item: x\n",
            "toy.yaml:1:7: item: takes a list, as in `item: [TEXT]`");
    refused(
        "item: [[x]]\n",
        "toy.yaml:1:8: item: it takes a list of plain values, not of lists");
    refused(
        "item:\n- a: b\n",
        "toy.yaml:2:3: item: it takes a list of plain values, not of `name: "
        "value`");
    refused("- count\n",
            "toy.yaml:1:1: expected settings, one a line, such as `depth: 3`");
    refused("count\n",
            "toy.yaml:1:1: expected settings, one a line, such as `depth: 3`");
    refused("? [a]\n: 1\n", "toy.yaml:1:3: expected the name of a setting");
}

TEST(what_stands_on_the_command_line_only_is_refused)
{
    refused("file: x\n",
            "toy.yaml:1:1: 'file' can be given on the command line only");
}

TEST(anchors_aliases_and_tags_are_refused)
{
    const char *why = ": anchors (&), aliases (*) and tags (!) are not "
                      "supported; quote the value if it begins like one";
    static const char *const yaml[] = {
        "count: &x 3\n",      "count: *x\n",   "item: &x [a]\n",
        "count: !!int 3\n",   "&x count: 3\n", "--- &x\ncount: 3\n",
        "item: [&x a, *x]\n", "name: ! x\n",   "kind: !!seq [a]\n",
    };

    for (size_t i = 0; i < sizeof yaml / sizeof *yaml; i++) {
        ck_assert_int_eq(read_bytes(bytes_of_str(yaml[i])), STATUS_FORMAT);
        ck_assert_ptr_nonnull(strstr(buf_str(&error), why));
    }
}

TEST(what_is_no_yaml_is_refused_with_its_place)
{
    ck_assert_int_eq(read_bytes(bytes_of_str("count: 1\n\twait: 2\n")),
                     STATUS_FORMAT);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "toy.yaml:2:1: not YAML"));
    ck_assert_int_eq(read_bytes(bytes_of_str("item: [a\n")), STATUS_FORMAT);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "toy.yaml:2:1: not YAML"));
    ck_assert_int_eq(read_bytes(bytes_of_str("name: \"a\n")), STATUS_FORMAT);
}

TEST(what_is_not_utf8_is_refused_with_its_place)
{
    ck_assert_int_eq(read_bytes(bytes_of_str("count: 1\nname: J\xfcrgen\n")),
                     STATUS_FORMAT);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&error), "toy.yaml:2:8: not UTF-8 text"));
    /* UTF-16 with its mark is not taken either. */
    ck_assert_int_eq(read_bytes(bytes_of("\xff\xfe"
                                         "a\0:\0",
                                         6)),
                     STATUS_FORMAT);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&error), "toy.yaml:1:1: not UTF-8 text"));
    ck_assert_int_eq(read_bytes(bytes_of("name: a\0b\n", 10)), STATUS_FORMAT);
}

TEST(size_and_depth_are_bounded)
{
    size_t n = CONFIG_CEILING + 1;
    char *text = xmalloc(n);

    memset(text, '[', n);
    ck_assert_int_eq(read_bytes(bytes_of(text, n)), STATUS_LIMIT);
    ck_assert_str_eq(buf_str(&error), "toy.yaml: longer than 1048576 bytes");
    ck_assert_int_eq(read_bytes(bytes_of(text, n - 1)), STATUS_FORMAT);
    memset(text, '#', n);
    ck_ok(read_bytes(bytes_of(text, n - 1)));
    free(text);
}

TEST(a_list_in_a_file_replaces_the_default_and_may_be_empty)
{
    accepted("kind: []\n");
    ck_assert_uint_eq(toy.kind.count, 0);
    ck_assert_int_eq(
        option_source(&toy_table, option_find(&toy_table, bytes_of_str("kind")),
                      &toy),
        OPTION_FROM_FILE);
}

static void write_toy(struct buf *out)
{
    buf_clear(out);
    config_write(&toy_table, &toy, false, out);
    config_write(&toy_table, &toy, true, out);
    ck_ok(buf_failed(out));
}

TEST(what_is_written_reads_back_equal)
{
    struct toy before;
    struct buf text;

    accepted("loud: yes\ncount: none\nroom: 3K\ncolour: red\n"
             "name: 'x \"y\" \\ # z: \xe2\x82\xac'\n"
             "item: ['- a', '{b', '%', \"tab?\"]\nkind: []\n");
    option_copy(&toy_table, &before, &toy, sizeof toy);
    buf_init(&text, 10000);
    write_toy(&text);
    option_fini(&toy_table, &toy);
    option_defaults(&toy_table, &toy);
    accepted(buf_str(&text));
    for (size_t i = 0; i < toy_table.count; i++)
        ck_assert_msg(option_equal(&toy_specs[i], &before, &toy), "%s",
                      toy_specs[i].name);
    buf_fini(&text);
    option_fini(&toy_table, &before);
}

TEST(writes_sections_and_the_shortest_text)
{
    struct buf text;

    buf_init(&text, 10000);
    write_toy(&text);
    ck_assert_str_eq(buf_str(&text), "\n# Toys\n"
                                     "loud: false\n"
                                     "count: none\n"
                                     "wait: 1s\n"
                                     "room: 4M\n"
                                     "rate: 0.001\n"
                                     "\n# More\n"
                                     "colour: green\n"
                                     "name: \"\"\n"
                                     "item: []\n"
                                     "kind:\n"
                                     "  - \"a\"\n"
                                     "  - \"img\"\n"
                                     "light: off\n");
    buf_fini(&text);
}
