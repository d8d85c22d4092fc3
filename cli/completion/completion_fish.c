/* SPDX-License-Identifier: MIT */
/* completion_fish.c - the completion for fish: a `complete` for each command
 * and each option. */
#include "cli/completion/completion.h"

#define TEXT_MOST 8192

static const char head[] =
    "# Completion of urlweir for fish, made by `urlweir completion fish`.\n"
    "\n"
    "# Is the line one of this command? Without one: has it none yet?\n"
    "function __urlweir_is\n"
    "    set -l words (commandline -opc)\n"
    "    set -l n (count $argv)\n"
    "    if test $n -eq 0\n"
    "        test (count $words) -eq 1\n"
    "    else\n"
    "        set -l last (math $n + 1)\n"
    "        test (count $words) -ge $last\n"
    "        and test \"$words[2..$last]\" = \"$argv\"\n"
    "    end\n"
    "end\n"
    "# Is the word after this command its part?\n"
    "function __urlweir_begins\n"
    "    __urlweir_is $argv\n"
    "    and test (count (commandline -opc)) -eq 2\n"
    "end\n"
    "complete -c urlweir -f\n";

static void print_quoted(FILE *to, const char *text)
{
    fputc('\'', to);
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', to);
        fputc(*text, to);
    }
    fputc('\'', to);
}

/* What the value of an option, or an operand, may be. */
static void print_kind(FILE *to, enum completion_kind kind, struct buf *words,
                       bool value)
{
    if (kind == COMPLETION_FILE)
        fputs(value ? " -r -F" : " -F", to);
    else if (value)
        fputs(" -x", to);
    if (kind == COMPLETION_DIR)
        fputs(" -a '(__fish_complete_directories)'", to);
    else if (kind == COMPLETION_WORDS)
        fprintf(to, " -a '%s'", buf_str(words));
    else if (kind == COMPLETION_LIST)
        fprintf(to, " -a '(__fish_append , %s)'", buf_str(words));
}

static void print_option(FILE *to, const char *name, const struct usage *u,
                         const struct option_spec *s)
{
    struct buf words, brief;

    buf_init(&words, TEXT_MOST);
    buf_init(&brief, TEXT_MOST);
    completion_brief(&brief, s);
    fprintf(to, "complete -c urlweir -n '__urlweir_is %s' -l %s", name,
            s->name);
    if (s->letter != 0)
        fprintf(to, " -s %c", s->letter);
    if (s->type != OPTION_FLAG)
        print_kind(to, completion_of_option(s, &words), &words, true);
    fputs(" -d ", to);
    print_quoted(to, buf_str(&brief));
    fputc('\n', to);
    if (completion_has_no(u, s))
        fprintf(to,
                "complete -c urlweir -n '__urlweir_is %s' -l no-%s -d 'not: "
                "--%s'\n",
                name, s->name, s->name);
    buf_fini(&brief);
    buf_fini(&words);
}

/* All operands that can be completed are of one kind, that of the first. */
static void print_operand(FILE *to, const char *name, const struct usage *u)
{
    enum completion_kind kind;
    struct buf words;
    bool last;

    buf_init(&words, TEXT_MOST);
    if (completion_of_operand(u, 0, &kind, &words, &last) &&
        kind != COMPLETION_NONE) {
        fprintf(to, "complete -c urlweir -n '__urlweir_is %s'", name);
        print_kind(to, kind, &words, false);
        fputc('\n', to);
    }
    buf_fini(&words);
}

static void print_names(FILE *to, const char *when, const struct command *table)
{
    for (const struct command *c = table; c->name != NULL; c++) {
        fprintf(to, "complete -c urlweir -n '%s' -a %s -d ", when, c->name);
        print_quoted(to, c->summary);
        fputc('\n', to);
    }
}

static void print_command(FILE *to, const char *name, const struct command *c)
{
    const struct usage *u = c->usage;
    char when[80];

    fputc('\n', to);
    if (c->parts != NULL) {
        snprintf(when, sizeof when, "__urlweir_begins %s", name);
        print_names(to, when, c->parts);
        return;
    }
    fprintf(to,
            "complete -c urlweir -n '__urlweir_is %s' -l help -s h -d 'print "
            "the options'\n",
            name);
    for (size_t i = 0; i < u->table->count; i++)
        if (completion_has(u, &u->table->spec[i]))
            print_option(to, name, u, &u->table->spec[i]);
    print_operand(to, name, u);
}

void completion_fish(FILE *to)
{
    fputs(head, to);
    print_names(to, "__urlweir_is", command_table);
    print_names(to, "__urlweir_begins help", command_table);
    completion_each(to, print_command);
}
