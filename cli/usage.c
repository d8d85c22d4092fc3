/* SPDX-License-Identifier: MIT */
/* usage.c - a command's help, laid out from its table for 80 columns. */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "cli/command_line.h"

#define WIDTH     79
#define HELP_AT   30 /* column where the help texts begin */
#define TEXT_MOST 4096

/* The length of the first word of `text`, which ends with the line. */
static size_t word(const char *text)
{
    return strcspn(text, " \n");
}

/* The same in a synopsis, where text in brackets is one word. */
static size_t part(const char *text)
{
    size_t n = 0;
    int depth = 0;

    for (; text[n] != '\0' && text[n] != '\n'; n++) {
        if (text[n] == ' ' && depth == 0)
            break;
        depth += (text[n] == '[' || text[n] == '(');
        depth -= (text[n] == ']' || text[n] == ')');
    }
    return n;
}

/* Breaks a line of `text` between words, from column `at`, each further line
 * indented. Returns the rest of the text. */
static const char *print_wrapped(FILE *to, const char *text, size_t at,
                                 size_t indent, size_t (*next)(const char *))
{
    while (*text != '\0' && *text != '\n') {
        size_t n = next(text);

        if (at > indent && at + 1 + n > WIDTH) {
            fprintf(to, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', to);
            at++;
        }
        fprintf(to, "%.*s", (int)n, text);
        at += n;
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', to);
    return *text == '\n' ? text + 1 : text;
}

/* "  -d, --depth N", "      --insecure", "      --robots obey|report|off" */
static void add_names(struct buf *out, const struct option_spec *s)
{
    if (s->letter != 0)
        buf_addf(out, "  -%c, --%s", s->letter, s->name);
    else
        buf_addf(out, "      --%s", s->name);
    if (s->type == OPTION_FLAG)
        return;
    buf_add_char(out, ' ');
    if (s->arg != NULL) {
        buf_addf(out, s->alone != NULL ? "[%s]" : "%s", s->arg);
        return;
    }
    if ((s->flags & OPTION_SWITCH) != 0)
        buf_add_char(out, '[');
    for (size_t i = 0; s->words[i] != NULL; i++)
        buf_addf(out, "%s%s", i > 0 ? "|" : "", s->words[i]);
    if ((s->flags & OPTION_SWITCH) != 0)
        buf_add_char(out, ']');
}

/* Adds `text` in brackets, with spaces so that a line may break after a
 * comma. */
static void add_fallback(struct buf *out, const char *text)
{
    buf_add_str(out, " [");
    for (; *text != '\0'; text++) {
        buf_add_char(out, *text);
        if (*text == ',')
            buf_add_char(out, ' ');
    }
    buf_add_char(out, ']');
}

static void add_help(struct buf *out, const struct option_spec *s)
{
    buf_add_str(out, s->help);
    if (s->type == OPTION_FLAG)
        buf_addf(out, " [%s]",
                 s->fallback != NULL && strcmp(s->fallback, "true") == 0
                     ? "on"
                     : "off");
    else if (s->fallback != NULL)
        add_fallback(out, s->fallback);
}

static void print_option(FILE *to, const struct option_spec *s)
{
    struct buf b;
    size_t at;

    buf_init(&b, TEXT_MOST);
    add_names(&b, s);
    fputs(buf_str(&b), to);
    at = b.len;
    if (at + 2 > HELP_AT) {
        fputc('\n', to);
        at = 0;
    }
    fprintf(to, "%*s", (int)(HELP_AT - at), "");
    buf_clear(&b);
    add_help(&b, s);
    print_wrapped(to, buf_str(&b), HELP_AT, HELP_AT, word);
    buf_fini(&b);
}

static bool is_taken(const struct usage *u, const struct option_spec *s)
{
    return (s->flags & (OPTION_FILE_ONLY | u->without)) == 0;
}

static bool is_about(const struct option_spec *s, const char *word)
{
    return strcasestr(s->name, word) != NULL ||
           strcasestr(s->help, word) != NULL ||
           strcasestr(s->section, word) != NULL;
}

/* Prints those that are about `word`, under their headings; NULL: all. */
static bool print_options(const struct usage *u, const char *about, FILE *to)
{
    const char *section = "";

    for (size_t i = 0; i < u->table->count; i++) {
        const struct option_spec *s = &u->table->spec[i];

        if (!is_taken(u, s) || (about != NULL && !is_about(s, about)))
            continue;
        if (strcmp(section, s->section) != 0)
            fprintf(to, "\n%s\n", s->section);
        section = s->section;
        print_option(to, s);
    }
    return section[0] != '\0';
}

static void print_examples(const struct usage *u, FILE *to)
{
    const char *line = u->examples;

    fputc('\n', to);
    while (*line != '\0') {
        size_t n = strcspn(line, "\n");

        fprintf(to, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_often(const struct usage *u, FILE *to)
{
    const char *name = u->often;

    fputs("\nWhat most people need\n", to);
    while (*name != '\0') {
        struct bytes one = bytes_of(name, strcspn(name, " "));

        print_option(to, &u->table->spec[option_find(u->table, one)]);
        name += one.len;
        name += strspn(name, " ");
    }
}

/* Does the table hold an option of this type? */
static bool has(const struct option_table *t, enum option_type type)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->spec[i].type == type)
            return true;
    return false;
}

static void print_units(const struct option_table *t, FILE *to)
{
    if (has(t, OPTION_COUNT))
        fputs("\nA count may end in K, M or G, powers of 1000: 10M.", to);
    if (has(t, OPTION_SIZE))
        fputs("\nA SIZE is bytes, or a number with K, M or G, powers of 1024.",
              to);
    if (has(t, OPTION_TIME))
        fputs("\nA TIME is seconds, or a number with ms, s, m, h or d: 1.5s.",
              to);
    if (has(t, OPTION_LIST))
        fputs("\nAn option that takes a list may be repeated; an empty value "
              "empties it.",
              to);
    if (has(t, OPTION_FLAG))
        fputs("\n"
              "--no-NAME turns a switch off.",
              to);
    fputc('\n', to);
}

/* Prints a line for each form; what does not fit goes below its first
 * operand. */
static void print_forms(const struct usage *u, FILE *to)
{
    const char *before = "usage: urlweir ", *form = u->synopsis;

    while (*form != '\0') {
        size_t indent = strlen(before) + strlen(u->name) + 1;

        assert(strncmp(form, u->name, strlen(u->name)) == 0);
        form += strlen(u->name);
        fprintf(to, "%s%s ", before, u->name);
        form =
            print_wrapped(to, form + strspn(form, " "), indent, indent, part);
        before = "       urlweir ";
    }
}

void usage_print_about(const struct usage *u, FILE *to)
{
    print_forms(u, to);
    if (u->about[0] != '\0') {
        fputc('\n', to);
        print_wrapped(to, u->about, 0, 0, word);
    }
}

bool usage_print(const struct usage *u, const char *word, FILE *to)
{
    bool all = word != NULL && strcmp(word, "all") == 0;

    if (word != NULL && !all)
        return print_options(u, word, to);
    usage_print_about(u, to);
    if (u->often == NULL || all) {
        (void)print_options(u, NULL, to);
        fputs("  -h, --help                  print this\n", to);
        print_units(u->table, to);
        return true;
    }
    print_examples(u, to);
    print_often(u, to);
    fputs(
        "  -h, --help [all|WORD]       print this, all options, or those about "
        "WORD\n",
        to);
    return true;
}
