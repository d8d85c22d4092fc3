/* SPDX-License-Identifier: MIT */
/*
 * completion.c - what a shell may complete at each place of a command line.
 *
 * Everything comes from the table of commands and their tables of options, as
 * --help does: names, words of a choice, and whether a value or an operand is a
 * file or a directory, which their names in the help say. The kinds of operands
 * are read from the synopsis, so that there is no second list of them that
 * could say something else.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "cli/command.h"
#include "cli/command_line.h"

#define NAME_MOST 64

enum completion_kind {
    COMPLETION_NONE,  /* a value that nobody can guess */
    COMPLETION_WORDS, /* one of these words */
    COMPLETION_LIST,  /* some of these words, with commas between them */
    COMPLETION_FILE,
    COMPLETION_DIR
};

/* Names that values and operands have in the help. */
static const struct {
    const char *name;
    enum completion_kind kind;
} kinds[] = {
    {"DIR", COMPLETION_DIR},  {"OLD", COMPLETION_DIR},
    {"NEW", COMPLETION_DIR},  {"FILE", COMPLETION_FILE},
    {"OUT", COMPLETION_FILE},
};

/* "DIR|URL", "FILE.yaml", "FILE..." begin with their kind. */
static enum completion_kind kind_of_name(struct bytes name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].name);

        if (bytes_starts_with(name, kinds[i].name) &&
            (name.len == n || strchr("|.", name.at[n]) != NULL))
            return kinds[i].kind;
    }
    return COMPLETION_NONE;
}

/* What the value of an option may be; adds the words to `words`, each followed
 * by a space. */
static enum completion_kind completion_of_option(const struct option_spec *s,
                                                 struct buf *words)
{
    for (size_t i = 0; s->words != NULL && s->words[i] != NULL; i++)
        buf_addf(words, "%s ", s->words[i]);
    if (s->words != NULL)
        return s->type == OPTION_LIST ? COMPLETION_LIST : COMPLETION_WORDS;
    if (s->bare != NULL) {
        buf_addf(words, "%s ", s->bare);
        return COMPLETION_WORDS;
    }
    return s->arg != NULL ? kind_of_name(bytes_of_str(s->arg))
                          : COMPLETION_NONE;
}

/* ---- operands ---- */

/* Takes the next part of a synopsis; text in brackets is one part. */
static struct bytes next_part(const char **form)
{
    struct bytes part;
    int depth = 0;

    *form += strspn(*form, " ");
    part = bytes_of(*form, 0);
    for (; **form != '\0' && **form != '\n'; ++*form) {
        if (**form == ' ' && depth == 0)
            break;
        depth += **form == '[' || **form == '(';
        depth -= **form == ']' || **form == ')';
        part.len++;
    }
    return part;
}

/* The next operand of a synopsis, without brackets; empty: no more. */
static struct bytes next_operand(const char **form)
{
    for (;;) {
        struct bytes part = next_part(form);

        if (part.len == 0 || part.at[0] == '<')
            return bytes_of("", 0);
        if (part.at[0] == '-') {
            next_part(form); /* the value of an option that must be given */
            continue;
        }
        if (part.at[0] == '(' || bytes_starts_with(part, "[-") ||
            bytes_equal(part, bytes_of_str("[options]")))
            continue;
        if (part.at[0] == '[')
            part = bytes_of(part.at + 1, part.len - 2);
        return part;
    }
}

/* "bash|zsh|fish" are words, "HOST" and "N|none" are not. */
static bool add_words(struct bytes operand, struct buf *words)
{
    for (size_t i = 0; i < operand.len; i++)
        if (strchr("abcdefghijklmnopqrstuvwxyz|", operand.at[i]) == NULL)
            return false;
    for (size_t i = 0; i < operand.len; i++)
        buf_add_char(words, operand.at[i] == '|' ? ' ' : operand.at[i]);
    buf_add_char(words, ' ');
    return true;
}

/* What operand `at`, counted from 0, of a command may be. *last: it may be
 * repeated. False: there is no such operand. */
static bool completion_of_operand(const struct usage *u, size_t at,
                                  enum completion_kind *kind, struct buf *words,
                                  bool *last)
{
    const char *form = u->synopsis + strlen(u->name);
    struct bytes operand = next_operand(&form);

    for (; at > 0 && operand.len > 0; at--)
        operand = next_operand(&form);
    if (operand.len == 0)
        return false;
    *last =
        operand.len > 3 && memcmp(operand.at + operand.len - 3, "...", 3) == 0;
    *kind = kind_of_name(operand);
    if (*kind == COMPLETION_NONE && add_words(operand, words))
        *kind = COMPLETION_WORDS;
    return true;
}

/* ---- options and commands ---- */

/* Can option `s` be given to this command? */
static bool completion_has(const struct usage *u, const struct option_spec *s)
{
    return (s->flags & (OPTION_FILE_ONLY | u->without)) == 0;
}

/* A switch that is on by default; and any, where settings of before are
 * changed. */
static bool completion_has_no(const struct usage *u,
                              const struct option_spec *s)
{
    bool on = s->fallback != NULL && strcmp(s->fallback, "true") == 0;

    return s->type == OPTION_FLAG &&
           (on || (u->without & OPTION_ON_START) != 0);
}

/* Adds the help of an option as far as its first semicolon. */
static void completion_brief(struct buf *out, const struct option_spec *s)
{
    buf_add_bytes(out, bytes_of(s->help, strcspn(s->help, ";")));
}

typedef void completion_command(FILE *to, const char *name,
                                const struct command *c);

/* Calls `each` for each command, and for each part of those that have parts, a
 * table of parts before its rows; `name` is "crawl", "filter add". */
static void completion_each(FILE *to, completion_command *each)
{
    for (const struct command *c = command_table; c->name != NULL; c++) {
        const struct command *part = c->parts;

        each(to, c->name, c);
        for (; part != NULL && part->name != NULL; part++) {
            char name[NAME_MOST];

            snprintf(name, sizeof name, "%s %s", c->name, part->name);
            each(to, name, part);
        }
    }
}

/*
 * The completion for bash.
 *
 * Two functions of data, made from the tables, and one that walks over the
 * line. It needs nothing of the bash-completion package. Bash breaks words at
 * '=' and ':' too, so --scope=host is three words, and so is http://h/.
 */

#define WORDS_MOST 4096

static const char head[] =
    "# Completion of urlweir for bash, made by `urlweir completion bash`.\n";

static const char walk[] =
    "_urlweir() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
    "    local command= kind= words= word n=0 at\n"
    "    COMPREPLY=()\n"
    "    for ((at = 1; at < COMP_CWORD; at++)); do\n"
    "        word=${COMP_WORDS[at]}\n"
    "        if [[ $command == '' ]]; then\n"
    "            command=$word\n"
    "            _urlweir_parts \"$command\"\n"
    "        elif [[ $words != '' && $command != *' '* ]]; then\n"
    "            command+=\" $word\"\n"
    "        elif [[ $word == : || ${COMP_WORDS[at - 1]} == : ]]; then\n"
    "            continue # the rest of a URL\n"
    "        elif [[ $word != -?* ]]; then\n"
    "            ((n++))\n"
    "        else\n"
    "            _urlweir_value \"$command\" \"$word\"\n"
    "            [[ $kind != '' ]] || continue\n"
    "            ((at++))\n"
    "            [[ ${COMP_WORDS[at]} != '=' ]] || ((at++))\n"
    "            ((at >= COMP_CWORD)) && break\n"
    "            kind= words=\n"
    "        fi\n"
    "    done\n"
    "    [[ $cur != '=' ]] || cur=\n"
    "    if [[ $kind != '' ]]; then\n"
    "        :\n"
    "    elif [[ $command == '' ]]; then\n"
    "        kind=words\n"
    "        _urlweir_parts ''\n"
    "    elif [[ $words != '' && $command != *' '* ]]; then\n"
    "        kind=words\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        kind=words\n"
    "        _urlweir_options \"$command\"\n"
    "    else\n"
    "        _urlweir_value \"$command\" \"$n\"\n"
    "    fi\n"
    "    _urlweir_reply\n"
    "}\n"
    "\n"
    "# What completes $cur, by $kind and $words.\n"
    "_urlweir_reply() {\n"
    "    local before\n"
    "    case $kind in\n"
    "    words) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") "
    ";;\n"
    "    list)\n"
    "        before=${cur%\"${cur##*,}\"}\n"
    "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- "
    "\"${cur##*,}\")\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        ;;\n"
    "    file | dir)\n"
    "        mapfile -t COMPREPLY < <(compgen -A \"${kind/dir/directory}\" -- "
    "\"$cur\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        ;;\n"
    "    esac\n"
    "    return 0\n"
    "}\n"
    "complete -F _urlweir urlweir\n";

static const char *const kind_names[] = {
    [COMPLETION_NONE] = "any",  [COMPLETION_WORDS] = "words",
    [COMPLETION_LIST] = "list", [COMPLETION_FILE] = "file",
    [COMPLETION_DIR] = "dir",
};

static void print_kind(FILE *to, enum completion_kind kind,
                       const struct buf *words)
{
    fprintf(to, ") kind=%s", kind_names[kind]);
    if (words->len > 0)
        fprintf(to, " words='%s'", buf_str(words));
    fputs(" ;;\n", to);
}

/* "crawl --depth" | "crawl -d") kind=words words='none ' ;; */
static void print_values(FILE *to, const char *name, const struct command *c)
{
    const struct usage *u = c->usage;
    enum completion_kind kind;
    bool last;
    struct buf words;

    buf_init(&words, WORDS_MOST);
    for (size_t i = 0; i < u->table->count; i++) {
        const struct option_spec *s = &u->table->spec[i];

        if (s->type == OPTION_FLAG || !completion_has(u, s))
            continue;
        buf_clear(&words);
        kind = completion_of_option(s, &words);
        fprintf(to, "    '%s --%s'", name, s->name);
        if (s->letter != 0)
            fprintf(to, " | '%s -%c'", name, s->letter);
        print_kind(to, kind, &words);
    }
    for (size_t at = 0;
         buf_clear(&words), completion_of_operand(u, at, &kind, &words, &last);
         at++) {
        fprintf(to, last ? "    '%s '[0-9]*" : "    '%s %zu'", name, at);
        print_kind(to, kind, &words);
    }
    buf_fini(&words);
}

static void print_options(FILE *to, const char *name, const struct command *c)
{
    const struct usage *u = c->usage;

    if (c->parts != NULL)
        return;
    fprintf(to, "    '%s') words='--help", name);
    for (size_t i = 0; i < u->table->count; i++) {
        const struct option_spec *s = &u->table->spec[i];

        if (!completion_has(u, s))
            continue;
        fprintf(to, " --%s", s->name);
        if (completion_has_no(u, s))
            fprintf(to, " --no-%s", s->name);
        if (s->letter != 0)
            fprintf(to, " -%c", s->letter);
    }
    fputs("' ;;\n", to);
}

static void print_names(FILE *to, const char *of, const struct command *table,
                        const char *others)
{
    fprintf(to, "    '%s') words='", of);
    for (const struct command *c = table; c->name != NULL; c++)
        fprintf(to, "%s ", c->name);
    fprintf(to, "%s' ;;\n", others);
}

static void print_parts(FILE *to)
{
    print_names(to, "", command_table, "help version --help --version");
    print_names(to, "help", command_table, "");
    for (const struct command *c = command_table; c->name != NULL; c++)
        if (c->parts != NULL)
            print_names(to, c->name, c->parts, "--help");
}

static void completion_bash(FILE *to)
{
    fputs(head, to);
    fputs("\n# The commands, or the parts of a command that has some.\n"
          "_urlweir_parts() {\n    case $1 in\n",
          to);
    print_parts(to);
    fputs("    *) words= ;;\n    esac\n}\n"
          "\n# The options of a command.\n"
          "_urlweir_options() {\n    words=\n    case $1 in\n",
          to);
    completion_each(to, print_options);
    fputs("    esac\n}\n"
          "\n# What the value of an option, or operand N, of a command may "
          "be.\n"
          "_urlweir_value() {\n    kind= words=\n    case \"$1 $2\" in\n",
          to);
    completion_each(to, print_values);
    fprintf(to, "    esac\n}\n\n%s", walk);
}

/*
 * The completion for fish: a `complete` for each command
 * and each option.
 */

#define TEXT_MOST 8192

static const char fish_head[] =
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
static void fish_print_kind(FILE *to, enum completion_kind kind,
                            struct buf *words, bool value)
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
        fish_print_kind(to, completion_of_option(s, &words), &words, true);
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
        fish_print_kind(to, kind, &words, false);
        fputc('\n', to);
    }
    buf_fini(&words);
}

static void fish_print_names(FILE *to, const char *when,
                             const struct command *table)
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
        fish_print_names(to, when, c->parts);
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

static void completion_fish(FILE *to)
{
    fputs(fish_head, to);
    fish_print_names(to, "__urlweir_is", command_table);
    fish_print_names(to, "__urlweir_begins help", command_table);
    completion_each(to, print_command);
}

/* ---- the completion for zsh: _arguments for each command ---- */

static const char zsh_head[] =
    "#compdef urlweir\n"
    "# Completion of urlweir for zsh, made by `urlweir completion zsh`.\n"
    "_urlweir() {\n"
    "    local command\n"
    "    if (( CURRENT == 2 )); then\n"
    "        _urlweir_names ''\n"
    "        return\n"
    "    fi\n"
    "    command=$words[2]\n"
    "    shift words\n"
    "    (( CURRENT-- ))\n"
    "    if (( CURRENT == 2 )) && _urlweir_names $command; then\n"
    "        return\n"
    "    fi\n"
    "    case $command in\n";

/* A file that compinit finds is the function itself; `source` defines it. */
static const char tail[] = "if [[ $funcstack[1] == _urlweir ]]; then\n"
                           "    _urlweir \"$@\"\n"
                           "else\n"
                           "    compdef _urlweir urlweir\n"
                           "fi\n";

/* Adds text for between single quotes, where `special` has a meaning. */
static void add_quoted(struct buf *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buf_add_str(out, "'\\''");
            continue;
        }
        if (strchr(special, *text) != NULL)
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
}

/* ":FILE:_files", ":scope:(seed host)" */
static void add_action(struct buf *out, const char *what,
                       enum completion_kind kind, const struct buf *words)
{
    buf_add_char(out, ':');
    add_quoted(out, what, ":\\");
    buf_add_char(out, ':');
    if (kind == COMPLETION_WORDS)
        buf_addf(out, "(%s)", buf_str(words));
    else if (kind == COMPLETION_LIST)
        buf_addf(out, "_values -s , %s %s", what, buf_str(words));
    else if (kind == COMPLETION_FILE)
        buf_add_str(out, "_files");
    else if (kind == COMPLETION_DIR)
        buf_add_str(out, "_files -/");
    buf_add_char(out, '\'');
}

/* One argument of _arguments: a form of the option, what it says, its value. */
static void print_form(FILE *to, const struct option_spec *s, const char *form)
{
    struct buf text, words, brief;
    enum completion_kind kind;

    buf_init(&text, TEXT_MOST);
    buf_init(&words, TEXT_MOST);
    buf_init(&brief, TEXT_MOST);
    completion_brief(&brief, s);
    buf_addf(&text, " \\\n            '%s%s[",
             s->type == OPTION_LIST ? "*" : "", form);
    add_quoted(&text, buf_str(&brief), "[]:\\");
    buf_add_char(&text, ']');
    if (s->type == OPTION_FLAG) {
        buf_add_char(&text, '\'');
    } else {
        kind = completion_of_option(s, &words);
        add_action(&text, s->arg != NULL ? s->arg : s->name, kind, &words);
    }
    fputs(buf_str(&text), to);
    buf_fini(&brief);
    buf_fini(&words);
    buf_fini(&text);
}

static void zsh_print_option(FILE *to, const struct usage *u,
                             const struct option_spec *s)
{
    bool flag = s->type == OPTION_FLAG;
    char form[80];

    snprintf(form, sizeof form, "--%s%s", s->name, flag ? "" : "=");
    print_form(to, s, form);
    if (s->letter != 0) {
        snprintf(form, sizeof form, "-%c%s", s->letter, flag ? "" : "+");
        print_form(to, s, form);
    }
    if (completion_has_no(u, s)) {
        snprintf(form, sizeof form, "--no-%s", s->name);
        print_form(to, s, form);
    }
}

static void print_operands(FILE *to, const struct usage *u)
{
    struct buf text, words;
    enum completion_kind kind;
    bool last = false;

    buf_init(&text, TEXT_MOST);
    buf_init(&words, TEXT_MOST);
    for (size_t at = 0;
         !last && completion_of_operand(u, at, &kind, &words, &last); at++) {
        if (kind == COMPLETION_NONE)
            continue; /* a message in its place would hide the options */
        buf_clear(&text);
        if (last)
            buf_add_str(&text, "'*");
        else
            buf_addf(&text, "'%zu", at + 1);
        add_action(&text, "operand", kind, &words);
        fprintf(to, " \\\n            %s", buf_str(&text));
        buf_clear(&words);
    }
    buf_fini(&words);
    buf_fini(&text);
}

static void zsh_print_command(FILE *to, const char *name,
                              const struct command *c)
{
    const struct usage *u = c->usage;

    if (c->parts != NULL) {
        fprintf(to,
                "    %s)\n"
                "        command+=\" $words[2]\"\n"
                "        shift words\n"
                "        (( CURRENT-- ))\n"
                "        ;;\n"
                "    esac\n"
                "    case $command in\n",
                name);
        return;
    }
    fprintf(to,
            "    '%s')\n        _arguments -s : \\\n"
            "            '(- *)'{-h,--help}'[print the options]'",
            name);
    for (size_t i = 0; i < u->table->count; i++)
        if (completion_has(u, &u->table->spec[i]))
            zsh_print_option(to, u, &u->table->spec[i]);
    print_operands(to, u);
    fputs("\n        ;;\n", to);
}

static void zsh_print_names(FILE *to, const char *of,
                            const struct command *table)
{
    struct buf text;

    buf_init(&text, TEXT_MOST);
    for (const struct command *c = table; c->name != NULL; c++) {
        buf_addf(&text, " \\\n            '%s:", c->name);
        add_quoted(&text, c->summary, ":\\");
        buf_add_char(&text, '\'');
    }
    fprintf(to, "    '%s') names=(%s\n        ) ;;\n", of, buf_str(&text));
    buf_fini(&text);
}

/* Print the completion of all commands for one shell. */
static void completion_zsh(FILE *to)
{
    fputs(zsh_head, to);
    completion_each(to, zsh_print_command);
    fputs("    esac\n}\n"
          "\n# Completes the commands, or the parts of a command.\n"
          "_urlweir_names() {\n"
          "    local -a names\n    case $1 in\n",
          to);
    zsh_print_names(to, "", command_table);
    zsh_print_names(to, "help", command_table);
    for (const struct command *c = command_table; c->name != NULL; c++)
        if (c->parts != NULL)
            zsh_print_names(to, c->name, c->parts);
    fprintf(to,
            "    *) return 1 ;;\n    esac\n"
            "    _describe command names\n}\n\n%s",
            tail);
}

/*
 * `urlweir completion`: what a shell needs to complete the
 * commands, their options and their operands.
 */

static const struct {
    const char *name;
    void (*print)(FILE *to);
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

static int completion_run(const struct usage *u, void *settings,
                          const struct option_list *operands)
{
    const char *shell = operands->item[0];

    (void)settings;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(stdout);
            return EXIT_DONE;
        }
    return usage_error(u, "'%s' is not bash, zsh or fish", shell);
}

const struct usage completion_usage = {
    .name = "completion",
    .synopsis = "completion bash|zsh|fish",
    .about = "Prints the completion of urlweir for a shell, made from the same "
             "tables as --help. `make install` puts it where the shells look. "
             "For one session: `source <(urlweir completion bash)`, also in "
             "zsh, or `urlweir completion fish | source`.",
    .table = &no_options,
    .least = 1,
    .most = 1,
    .operand = "the name of a shell",
    .run = completion_run,
};
