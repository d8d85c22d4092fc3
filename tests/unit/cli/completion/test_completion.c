/* SPDX-License-Identifier: MIT */
/* test_completion.c - what may stand where, as shells are told. */
#include <string.h>

#include "cli/completion/completion.h"
#include "tests/unit/unit.h"

static const struct usage *usage_of(const char *name)
{
    const struct command *c = command_find(command_table, name);

    ck_assert_ptr_nonnull(c);
    return c->usage;
}

/* "dir dir", "file*", "none*", "words(a b )" */
static const char *operands_of(const struct usage *u)
{
    static const char *const names[] = {"none", "words", "list", "file", "dir"};
    static char out[200];
    enum completion_kind kind;
    struct buf words;
    bool last = false;

    out[0] = '\0';
    buf_init(&words, 1000);
    for (size_t at = 0;
         !last && completion_of_operand(u, at, &kind, &words, &last); at++) {
        char one[100];

        snprintf(one, sizeof one, "%s%s%s%s%s%s", at > 0 ? " " : "",
                 names[kind], last ? "*" : "", words.len > 0 ? "(" : "",
                 buf_str(&words), words.len > 0 ? ")" : "");
        strncat(out, one, sizeof out - strlen(out) - 1);
        buf_clear(&words);
    }
    buf_fini(&words);
    return out;
}

/* Promise (Commands and options): bash, zsh and fish complete the options
 * that help lists and no others, the words of choices, files and
 * directories. See also `tests/cli/completion.sh`. */
TEST(operands_are_what_the_synopsis_calls_them)
{
    static const struct {
        const char *command, *operands;
    } cases[] = {
        {"crawl", "none*"},
        {"resume", "dir"},
        {"status", "dir"},
        {"seed", "dir none*"},
        {"delay", "dir none none"},
        {"block", "dir none"},
        {"audit", "dir"},
        {"diff", "dir dir"},
        {"explain", "dir none"},
        {"dedupe", "file*"},
        {"serve", "dir"},
        {"links", "file"},
        {"robots", "file"},
        {"sitemap", "file"},
        {"url", ""},
        {"completion", "words(bash zsh fish )"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(strcmp(operands_of(usage_of(cases[i].command)),
                             cases[i].operands) == 0,
                      "%s: %s", cases[i].command,
                      operands_of(usage_of(cases[i].command)));
}

/* A value that is called FILE or DIR in help is completed as one, and a choice
 * has its words. */
static void check_options(FILE *to, const char *name, const struct command *c)
{
    (void)to;
    for (size_t i = 0; i < c->usage->table->count; i++) {
        const struct option_spec *s = &c->usage->table->spec[i];
        enum completion_kind kind;
        struct buf words;

        buf_init(&words, 4096);
        kind = completion_of_option(s, &words);
        if (s->type == OPTION_CHOICE)
            ck_assert_msg(kind == COMPLETION_WORDS && words.len > 0, "%s --%s",
                          name, s->name);
        else if (s->arg != NULL && strstr(s->arg, "FILE") != NULL)
            ck_assert_msg(kind == COMPLETION_FILE, "%s --%s", name, s->name);
        else if (s->arg != NULL && strstr(s->arg, "DIR") != NULL)
            ck_assert_msg(kind == COMPLETION_DIR, "%s --%s", name, s->name);
        buf_fini(&words);
    }
}

TEST(files_directories_and_choices_are_known)
{
    completion_each(NULL, check_options);
}
