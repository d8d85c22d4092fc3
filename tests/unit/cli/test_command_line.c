/* SPDX-License-Identifier: MIT */

#include "cli/command.h"
#include "cli/command_line.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/config/toy_options.h"
#include "tests/unit/unit.h"

static const struct usage usage = {
    .name = "toy",
    .synopsis = "toy [options] FILE...",
    .about = "Plays with toys.",
    .table = &toy_table,
    .most = 3,
    .operand = "a file",
};

static struct toy toy;
static struct option_list operands;
static struct capture captured;

#define ARGS(...) ((char *[]){"toy", __VA_ARGS__, NULL})

static int count(char **argv)
{
    int n = 0;

    while (argv[n] != NULL)
        n++;
    return n;
}

static void accepted(char **argv)
{
    int code = -1;

    ck_assert(
        command_line_parse(&usage, count(argv), argv, &toy, &operands, &code));
}

static void refused(const char *why, char **argv)
{
    const char *said;
    char want[1000];
    int code = -1;

    capture_start(&captured, STDERR_FILENO);
    ck_assert(
        !command_line_parse(&usage, count(argv), argv, &toy, &operands, &code));
    said = capture_end(&captured);
    snprintf(want, sizeof want, "urlweir toy: %s; see `urlweir toy --help`\n",
             why);
    ck_assert_str_eq(said, want);
    ck_assert_int_eq(code, EXIT_USAGE);
}

static void end(void)
{
    option_fini(&toy_table, &toy);
    option_list_free(&operands);
}

TEST(takes_long_and_short_forms)
{
    accepted(ARGS("--count", "3", "--wait=2s", "-n", "Ann", "-l"));
    ck_assert_int_eq(toy.count, 3);
    ck_assert_int_eq(toy.wait_ms, 2000);
    ck_assert_str_eq(toy.name, "Ann");
    ck_assert(toy.loud);
    end();
    accepted(ARGS("-lc4", "-w.5"));
    ck_assert(toy.loud);
    ck_assert_int_eq(toy.count, 4);
    ck_assert_int_eq(toy.wait_ms, 500);
    end();
    accepted(ARGS("--name=a=b", "--colour", "red"));
    ck_assert_str_eq(toy.name, "a=b");
    ck_assert_int_eq(toy.colour, TOY_RED);
    end();
}

TEST(options_may_follow_operands)
{
    accepted(ARGS("one", "-c", "3", "two", "-", "--loud"));
    ck_assert_int_eq(toy.count, 3);
    ck_assert(toy.loud);
    ck_assert_uint_eq(operands.count, 3);
    ck_assert_str_eq(operands.item[0], "one");
    ck_assert_str_eq(operands.item[2], "-");
    end();
}

TEST(a_switch_is_turned_off_by_no)
{
    accepted(ARGS("--loud", "--no-loud"));
    ck_assert(!toy.loud);
    end();
    refused("no option --no-count", ARGS("--no-count"));
}

TEST(a_switch_with_more_positions_needs_none)
{
    accepted(ARGS("--light"));
    ck_assert_int_eq(toy.light, TOY_BRIGHT);
    end();
    accepted(ARGS("--light", "dim"));
    ck_assert_int_eq(toy.light, TOY_DIM);
    ck_assert_uint_eq(operands.count, 0);
    end();
    accepted(ARGS("--light", "--loud"));
    ck_assert_int_eq(toy.light, TOY_BRIGHT);
    ck_assert(toy.loud);
    end();
    accepted(ARGS("--light=dim", "--light"));
    ck_assert_int_eq(toy.light, TOY_BRIGHT);
    end();
    accepted(ARGS("--light=dim", "--no-light"));
    ck_assert_int_eq(toy.light, TOY_OFF);
    end();
    refused("--light: 'dimmer' is not known; it takes one of off, bright, dim",
            ARGS("--light=dimmer"));
    refused(
        "--no-light is a switch and takes no value; --no-light turns it off",
        ARGS("--no-light=dim"));
}

TEST(an_unknown_option_is_refused_with_the_nearest)
{
    refused("no option --cuont; did you mean --count?", ARGS("--cuont", "3"));
    refused("no option --colou; did you mean --colour?", ARGS("--colou=red"));
    refused("no option --frobnicate", ARGS("--frobnicate"));
    refused("no option -z", ARGS("-z"));
    refused("no option -z in -lz", ARGS("-lz"));
}

TEST(a_value_that_looks_like_an_unknown_option_is_a_value)
{
    accepted(ARGS("--item", "--x", "--item=--count", "-i", "-l"));
    ck_assert_uint_eq(toy.item.count, 3);
    ck_assert_str_eq(toy.item.item[0], "--x");
    ck_assert_str_eq(toy.item.item[1], "--count");
    ck_assert_str_eq(toy.item.item[2], "-l");
    ck_assert(!toy.loud);
    end();
}

TEST(a_bad_value_is_refused_under_the_name_it_was_given)
{
    refused("--count: '11' is out of range; it takes 0 to 10, or none",
            ARGS("--count", "11"));
    refused("-c: '=3' is not a count; it takes a whole number, or none",
            ARGS("-c=3"));
    refused("--name: the value is not UTF-8", ARGS("--name", "\xff"));
}

TEST(operands_are_counted)
{
    refused("'d' is one operand too many: urlweir toy [options] FILE...",
            ARGS("a", "b", "c", "d"));
}

struct settings {
    int64_t depth, count;
    uint8_t from[2];
};

static const struct option_spec settings_rows[] = {
    {.name = "depth", .type = OPTION_COUNT, .section = "", .arg = "N"},
    {.name = "count", .type = OPTION_COUNT, .section = "", .arg = "N"},
};
static const struct option_table settings_table =
    OPTION_TABLE(settings_rows, struct settings);

/* `urlweir set --insecure` is about the connection to the service, not about
 * the crawl's. */
TEST(an_option_of_the_command_itself_comes_before_a_setting_of_its_name)
{
    struct usage setting = usage;
    char **argv = ARGS("--depth", "3", "--count", "4", "--depth=5");
    int code = -1;

    setting.assigned = &settings_table;
    ck_assert(command_line_parse(&setting, count(argv), argv, &toy, &operands,
                                 &code));
    ck_assert_int_eq(toy.count, 4);
    ck_assert_uint_eq(operands.count, 2);
    ck_assert_str_eq(operands.item[0], "depth=3");
    ck_assert_str_eq(operands.item[1], "depth=5");
    end();
}

/* A pasted command line must not write to the user's terminal. */
TEST(strangers_bytes_are_escaped_in_errors)
{
    refused("no option --\\x1b[2J", ARGS("--\x1b[2J"));
}

TEST(help_is_printed_at_the_first_sign)
{
    const char *said;
    int code = -1;
    char **argv = ARGS("--help", "--frobnicate");

    capture_start(&captured, STDOUT_FILENO);
    ck_assert(
        !command_line_parse(&usage, count(argv), argv, &toy, &operands, &code));
    said = capture_end(&captured);
    ck_assert_int_eq(code, EXIT_DONE);
    ck_assert_str_eq(
        said,
        "usage: urlweir toy [options] FILE...\n"
        "\n"
        "Plays with toys.\n"
        "\n"
        "Toys\n"
        "  -l, --loud                  make noise [off]\n"
        "  -c, --count N               how many [none]\n"
        "  -w, --wait TIME             how long [1s]\n"
        "      --room SIZE             how large [4M]\n"
        "      --rate RATE             how often [0.001]\n"
        "\n"
        "More\n"
        "      --colour red|green      which [green]\n"
        "  -n, --name TEXT             whose\n"
        "      --file FILE             where\n"
        "  -i, --item TEXT             things\n"
        "      --kind KINDS            kinds of things [a, img]\n"
        "      --light [off|bright|dim]\n"
        "                              how bright [off]\n"
        "  -h, --help                  print this\n"
        "\n"
        "A count may end in K, M or G, powers of 1000: 10M.\n"
        "A SIZE is bytes, or a number with K, M or G, powers of 1024.\n"
        "A TIME is seconds, or a number with ms, s, m, h or d: 1.5s.\n"
        "An option that takes a list may be repeated; an empty value empties "
        "it.\n"
        "--no-NAME turns a switch off.\n");
}
