/* SPDX-License-Identifier: MIT */
/* secret_args.c - hides the secrets on a command line. */
#include "cli/secret_args.h"

#include <string.h>

#include "base/buf.h"

static void overwrite(char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = '*';
}

static void hide_value(char *arg, const char *value)
{
    char *at = value[0] != '\0' ? strstr(arg, value) : NULL;

    if (at != NULL)
        overwrite(at, strlen(value));
}

/* Each secret option has the same text in `s` as on the command line. */
static void hide_options(char *arg, const struct crawl_settings *s)
{
    struct buf text;

    buf_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];
        size_t items = (o->flags & OPTION_SECRET) != 0 ? option_items(o, s) : 0;

        for (size_t k = 0; k < items; k++) {
            buf_clear(&text);
            option_text(o, s, k, &text);
            hide_value(arg, buf_str(&text));
        }
    }
    buf_fini(&text);
}

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
        overwrite(start, (size_t)(at - start));
}

void secret_args_hide_logins(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        hide_login(argv[i]);
}

void secret_args_hide(int argc, char **argv, const struct crawl_settings *s)
{
    for (int i = 1; i < argc; i++) {
        hide_options(argv[i], s);
        hide_login(argv[i]);
    }
}
