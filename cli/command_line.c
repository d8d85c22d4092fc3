/* SPDX-License-Identifier: MIT */
/*
 * command_line.c - reads a command's options and operands.
 *
 * Not getopt_long: it takes abbreviations, speaks in its own words, and cannot
 * tell which name was meant. Reading and applying are two steps because the
 * file of --config must be read between them, wherever --config is given.
 */
#include "cli/command_line.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "base/mem.h"
#include "cli/command.h"

/*
 * A command's help, laid out from its table for 80 columns.
 */

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

static bool usage_takes(const struct usage *u, const struct option_spec *s)
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

        if (!usage_takes(u, s) || (about != NULL && !is_about(s, about)))
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

#define FORMS_MOST 1024

struct given {
    size_t option;
    const char *value; /* borrowed from argv */
    bool by_letter;
};

/* The current position on the command line. */
struct walk {
    const struct usage *u;
    struct command_line *c;
    char **argv;
    int argc, at;
    int *code;
};

int usage_error(const struct usage *u, const char *fmt, ...)
{
    struct buf safe;
    va_list ap;
    char what[2048];

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    buf_init(&safe, 8 * sizeof what);
    format_terminal(&safe, bytes_of_str(what));
    command_usage_error(u->name, "%s", buf_str(&safe));
    buf_fini(&safe);
    return EXIT_USAGE;
}

static bool is_given(const struct command_line *c, size_t option)
{
    for (size_t k = 0; k < c->count; k++)
        if (c->given[k].option == option)
            return true;
    return false;
}

/* A flag that may be given twice means, the second time, the option after it in
 * the table. */
static size_t meant_by(const struct walk *w, size_t option, const char *value)
{
    bool twice = (w->u->table->spec[option].flags & OPTION_TWICE) != 0 &&
                 strcmp(value, "true") == 0 && is_given(w->c, option);

    return twice ? option + 1 : option;
}

static void add(struct command_line *c, size_t option, const char *value,
                bool by_letter)
{
    c->given = xrealloc(c->given, (c->count + 1) * sizeof *c->given);
    c->given[c->count++] = (struct given){option, value, by_letter};
}

/* ---- refusing ---- */

/* What other tools call an option of ours. */
static const char *const other_names[][2] = {
    {"max-depth", "depth"},
    {"depth-limit", "depth"},
    {"level", "depth"},
    {"max-pages", "limit"},
    {"wait", "delay"},
    {"download-delay", "delay"},
    {"rate-limit", "limit-rate"},
    {"accept-regex", "include"},
    {"reject-regex", "exclude"},
    {"directory-prefix", "output"},
    {"input-file", "input"},
    {"ignore-robots", "robots"},
    {"load-cookies", "cookies"},
    {"no-check-certificate", "insecure"},
    {"page-requisites", "assets"},
    {"warc-file", "warc"},
    {"workers", "threads"},
};

static const char *meant_by_others(const struct walk *w, struct bytes name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (bytes_is(name, other_names[i][0]) &&
            option_find(w->u->table, bytes_of_str(other_names[i][1])) <
                w->u->table->count)
            return other_names[i][1];
    return NULL;
}

static bool refuse_unknown(struct walk *w, struct bytes name)
{
    bool alike;
    const char *other = meant_by_others(w, name);
    const char *near = option_nearest(w->u->table, name,
                                      OPTION_FILE_ONLY | w->u->without, &alike);

    if (other != NULL)
        *w->code = usage_error(w->u, "no option --%.*s; here it is --%s",
                               (int)name.len, name.at, other);
    else if (alike)
        *w->code = usage_error(w->u, "no option --%.*s; did you mean --%s?",
                               (int)name.len, name.at, near);
    else
        *w->code =
            usage_error(w->u, "no option --%.*s", (int)name.len, name.at);
    return false;
}

/* Is option `i` one that this command takes on its command line? */
static bool is_taken(struct walk *w, size_t i)
{
    const struct option_spec *s = &w->u->table->spec[i];

    if ((s->flags & w->u->without) == 0)
        return true;
    *w->code = usage_error(w->u, "--%s cannot be given here: %s", s->name,
                           w->u->because);
    return false;
}

/* ---- reading ---- */

static size_t find_long(const struct usage *u, struct bytes name)
{
    size_t i = option_find(u->table, name);

    if (i < u->table->count &&
        (u->table->spec[i].flags & OPTION_FILE_ONLY) != 0)
        return u->table->count;
    return i;
}

/* Does the argument look like an option of ours, so that it cannot be meant as
 * the value of the one before it? */
static bool is_option(const struct usage *u, const char *arg)
{
    if (arg[0] != '-' || arg[1] != '-')
        return false;
    if (arg[2] == '\0')
        return true;
    return find_long(u, bytes_of(arg + 2, strcspn(arg + 2, "="))) <
           u->table->count;
}

static bool is_url(const char *arg)
{
    return strncmp(arg, "http://", 7) == 0 || strncmp(arg, "https://", 8) == 0;
}

/* Is option `i` given without the value that it may have? */
static bool stands_alone(const struct walk *w, size_t i)
{
    const char *next = w->at + 1 < w->argc ? w->argv[w->at + 1] : "-";

    return w->u->table->spec[i].alone != NULL &&
           (next[0] == '-' || is_url(next));
}

/* Takes the next argument as the value of option `i`, which was written as
 * `as`. */
static bool take_value(struct walk *w, size_t i, const char *as, bool by_letter)
{
    const struct option_spec *s = &w->u->table->spec[i];

    if (stands_alone(w, i)) {
        add(w->c, i, s->alone, by_letter);
        return true;
    }
    if (w->at + 1 >= w->argc || is_option(w->u, w->argv[w->at + 1])) {
        *w->code = usage_error(w->u, "%s needs a value: %s %s", as, as,
                               s->arg != NULL ? s->arg : s->words[0]);
        return false;
    }
    add(w->c, i, w->argv[++w->at], by_letter);
    return true;
}

static bool is_switch(const struct option_spec *s)
{
    return s->type == OPTION_FLAG || (s->flags & OPTION_SWITCH) != 0;
}

/* The flag that --no-NAME negates; t->count if there is no such flag. */
static size_t find_negated(const struct usage *u, struct bytes name)
{
    size_t i = u->table->count;

    if (bytes_starts_with(name, "no-"))
        i = find_long(u, bytes_of(name.at + 3, name.len - 3));
    if (i < u->table->count && !is_switch(&u->table->spec[i]))
        return u->table->count;
    return i;
}

/* Takes the next argument as the position of switch `i`, if it names one. */
static void take_position(struct walk *w, size_t i)
{
    const struct option_spec *s = &w->u->table->spec[i];

    for (size_t k = 0; w->at + 1 < w->argc && s->words[k] != NULL; k++)
        if (strcmp(w->argv[w->at + 1], s->words[k]) == 0) {
            add(w->c, i, w->argv[++w->at], false);
            return;
        }
    add(w->c, i, "true", false);
}

/* "--depth 3", "--depth=3", "--random-delay" of the other table, as an
 * operand. */
static bool take_assigned(struct walk *w, const char *arg)
{
    const struct option_table *t = w->u->assigned;
    struct bytes name = bytes_of(arg + 2, strcspn(arg + 2, "="));
    const char *value = arg[2 + name.len] == '=' ? arg + 3 + name.len : NULL;
    size_t i;
    struct buf text;

    if (t == NULL || find_long(w->u, name) < w->u->table->count ||
        (i = option_find(t, name)) == t->count)
        return false;
    if (value == NULL && t->spec[i].type == OPTION_FLAG)
        value = "true";
    if (value == NULL && w->at + 1 < w->argc)
        value = w->argv[++w->at];
    buf_init(&text, SIZE_MAX / 2);
    buf_addf(&text, "%s=%s", t->spec[i].name, value != NULL ? value : "");
    option_list_add(&w->c->operands, buf_bytes(&text));
    buf_fini(&text);
    return true;
}

/* NAME=VALUE of an option of ours, behind the first operand. */
static bool take_assignment(struct walk *w, const char *arg)
{
    struct bytes name = bytes_of(arg, strcspn(arg, "="));
    size_t i = w->u->table->count;

    if (w->u->assigns && w->c->operands.count > 0 && arg[name.len] == '=')
        i = find_long(w->u, name);
    if (i == w->u->table->count)
        return false;
    add(w->c, i, arg + name.len + 1, false);
    return true;
}

static bool read_long(struct walk *w, const char *arg)
{
    const struct option_table *t = w->u->table;
    const char *equals = strchr(arg, '=');
    struct bytes name =
        bytes_of(arg + 2,
                 equals != NULL ? (size_t)(equals - arg) - 2 : strlen(arg + 2));
    size_t i = find_long(w->u, name);
    bool off = false;

    if (i == t->count) {
        i = find_negated(w->u, name);
        off = true;
    }
    if (i == t->count)
        return refuse_unknown(w, name);
    if (!is_taken(w, i))
        return false;
    if (t->spec[i].type != OPTION_FLAG && !off) {
        if (equals != NULL)
            add(w->c, i, equals + 1, false);
        else if (is_switch(&t->spec[i]))
            take_position(w, i);
        else
            return take_value(w, i, arg, false);
        return true;
    }
    if (equals != NULL) {
        *w->code = usage_error(w->u,
                               "--%.*s is a switch and takes no value; "
                               "--no-%s turns it off",
                               (int)name.len, name.at, t->spec[i].name);
        return false;
    }
    add(w->c, meant_by(w, i, off ? "false" : "true"), off ? "false" : "true",
        false);
    return true;
}

/* "-qv", "-d3", "-d" "3". */
static bool read_letters(struct walk *w, const char *arg)
{
    const struct option_table *t = w->u->table;

    for (const char *p = arg + 1; *p != '\0'; p++) {
        size_t i = option_find_letter(t, *p);
        char as[] = {'-', *p, '\0'};

        if (i == t->count) {
            *w->code = usage_error(w->u, "no option -%c%s%s", *p,
                                   p[1] != '\0' || p > arg + 1 ? " in " : "",
                                   p[1] != '\0' || p > arg + 1 ? arg : "");
            return false;
        }
        if (!is_taken(w, i))
            return false;
        if (t->spec[i].type != OPTION_FLAG) {
            if (p[1] == '\0')
                return take_value(w, i, as, true);
            add(w->c, i, p + 1, true);
            return true;
        }
        add(w->c, meant_by(w, i, "true"), "true", true);
    }
    return true;
}

/* "urlweir FORM or urlweir FORM" */
static void add_forms(struct buf *out, const char *synopsis)
{
    buf_add_str(out, "urlweir ");
    for (; *synopsis != '\0'; synopsis++) {
        if (*synopsis == '\n')
            buf_add_str(out, " or urlweir ");
        else
            buf_add_char(out, *synopsis);
    }
}

static bool check_operands(struct walk *w)
{
    const struct usage *u = w->u;
    size_t n = w->c->operands.count;
    struct buf forms;

    if (n >= u->least && n <= u->most)
        return true;
    buf_init(&forms, FORMS_MOST);
    add_forms(&forms, u->synopsis);
    if (n < u->least)
        *w->code =
            usage_error(u, "%s is missing: %s", u->operand, buf_str(&forms));
    else
        *w->code = usage_error(u, "'%s' is one operand too many: %s%s%s",
                               w->c->operands.item[u->most], buf_str(&forms),
                               u->too_many != NULL ? "; " : "",
                               u->too_many != NULL ? u->too_many : "");
    buf_fini(&forms);
    return false;
}

static bool is_help(const char *arg)
{
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
}

/* The word that follows, if any, says which part of the help is asked for. */
static int print_help(struct walk *w)
{
    const char *word = w->at + 1 < w->argc ? w->argv[w->at + 1] : "-";

    if (usage_print(w->u, word[0] != '-' ? word : NULL, stdout))
        return EXIT_DONE;
    return usage_error(w->u, "no option is about '%s'", word);
}

static bool read_arguments(struct walk *w)
{
    bool options = true;

    for (w->at = 1; w->at < w->argc; w->at++) {
        const char *arg = w->argv[w->at];
        bool ok = true;

        if (!options || arg[0] != '-' || arg[1] == '\0') {
            if (!options || !take_assignment(w, arg))
                option_list_add(&w->c->operands, bytes_of_str(arg));
        } else if (strcmp(arg, "--") == 0) {
            options = false;
        } else if (is_help(arg)) {
            *w->code = print_help(w);
            return false;
        } else if (arg[1] == '-') {
            ok = take_assigned(w, arg) || read_long(w, arg);
        } else {
            ok = read_letters(w, arg);
        }
        if (!ok)
            return false;
    }
    return check_operands(w);
}

bool command_line_read(struct command_line *c, const struct usage *u, int argc,
                       char **argv, int *code)
{
    struct walk w = {.u = u, .c = c, .argv = argv, .argc = argc, .code = code};

    *c = (struct command_line){0};
    if (read_arguments(&w))
        return true;
    command_line_fini(c);
    return false;
}

/* ---- applying ---- */

bool command_line_apply(const struct command_line *c, const struct usage *u,
                        void *settings, int *code)
{
    struct buf why;
    bool ok = true;

    buf_init(&why, 1000);
    for (size_t k = 0; ok && k < c->count; k++) {
        const struct given *g = &c->given[k];
        const struct option_spec *s = &u->table->spec[g->option];
        const char letter[] = {s->letter, '\0'};

        ok = option_set(u->table, g->option, settings, bytes_of_str(g->value),
                        OPTION_FROM_LINE, &why) == STATUS_OK;
        if (!ok)
            *code = usage_error(u, "%s%s: %s", g->by_letter ? "-" : "--",
                                g->by_letter ? letter : s->name, buf_str(&why));
    }
    buf_fini(&why);
    return ok;
}

const char *command_line_value(const struct command_line *c,
                               const struct usage *u, const char *name)
{
    const char *value = NULL;

    for (size_t k = 0; k < c->count; k++)
        if (strcmp(u->table->spec[c->given[k].option].name, name) == 0)
            value = c->given[k].value;
    return value;
}

void command_line_fini(struct command_line *c)
{
    free(c->given);
    option_list_free(&c->operands);
    *c = (struct command_line){0};
}

bool command_line_parse(const struct usage *u, int argc, char **argv,
                        void *settings, struct option_list *operands, int *code)
{
    struct command_line c;

    if (!command_line_read(&c, u, argc, argv, code))
        return false;
    option_defaults(u->table, settings);
    if (!command_line_apply(&c, u, settings, code)) {
        option_fini(u->table, settings);
        command_line_fini(&c);
        return false;
    }
    *operands = c.operands;
    c.operands = (struct option_list){0};
    command_line_fini(&c);
    return true;
}

/* ---- running ---- */

const struct option_table no_options = {NULL, 0, 0, 0};

static void hide_login(char *arg)
{
    char *start = strstr(arg, "//"), *at = NULL;

    if (start == NULL)
        return;
    start += 2;
    for (char *p = start; *p != '\0' && strchr("/\\?#", *p) == NULL; p++)
        if (*p == '@')
            at = p;
    if (at != NULL)
        memset(start, '*', (size_t)(at - start));
}

void command_line_hide_logins(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        hide_login(argv[i]);
}

int command_line_run(const struct usage *u, int argc, char **argv)
{
    struct option_list operands = {0};
    void *settings = xcalloc(1, u->table->size + 1);
    int code = EXIT_DONE;

    if (command_line_parse(u, argc, argv, settings, &operands, &code)) {
        command_line_hide_logins(argc, argv);
        code = u->run(u, settings, &operands);
        option_list_free(&operands);
        option_fini(u->table, settings);
    }
    free(settings);
    return code;
}
