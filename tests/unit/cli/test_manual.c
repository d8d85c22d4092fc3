/* SPDX-License-Identifier: MIT */
/*
 * test_manual.c - compares config/default.yaml and docs/man/urlweir.1 with the
 * table of options. Runs in the root of the checkout.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "config/config.h"
#include "job/settings/settings.h"
#include "tests/unit/unit.h"

#define CEILING ((size_t)1 << 20)

static const struct option_table *const table = &crawl_options;

TEST(default_yaml_holds_every_setting_with_its_default)
{
    struct crawl_settings yaml, defaults;
    struct buf error;

    buf_init(&error, 1000);
    settings_init(&yaml);
    settings_init(&defaults);
    ck_assert_msg(config_load(table, &yaml, "config/default.yaml",
                              OPTION_FROM_FILE, &error) == STATUS_OK,
                  "%s", buf_str(&error));
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *s = &table->spec[i];

        if ((s->flags & OPTION_LINE_ONLY) != 0)
            continue;
        ck_assert_msg(option_given(table, i, &yaml), "%s is not there",
                      s->name);
        ck_assert_msg(option_equal(s, &yaml, &defaults),
                      "%s is not the default", s->name);
    }
    settings_fini(&yaml);
    settings_fini(&defaults);
    buf_fini(&error);
}

TEST(default_yaml_is_a_sound_configuration)
{
    struct crawl_settings yaml;
    struct buf error;

    buf_init(&error, 1000);
    settings_init(&yaml);
    ck_ok(config_load(table, &yaml, "config/default.yaml", OPTION_FROM_FILE,
                      &error));
    ck_assert_msg(settings_check(&yaml, &error) == STATUS_OK, "%s",
                  buf_str(&error));
    settings_fini(&yaml);
    buf_fini(&error);
}

/* ---- the manual page ---- */

static struct buf page;

static void load_page(void)
{
    buf_init(&page, CEILING);
    ck_ok(file_read("docs/man/urlweir.1", &page));
}

static void free_page(void)
{
    buf_fini(&page);
}

/* Appends ".It Fl d , Fl -depth Ar N" as the page must have it. */
static void add_item(struct buf *out, const struct option_spec *s)
{
    buf_add_str(out, "\n.It ");
    if (s->letter != 0)
        buf_addf(out, "Fl %c , ", s->letter);
    buf_addf(out, "Fl -%s", s->name);
    if (s->type != OPTION_FLAG && s->arg != NULL)
        buf_addf(out, s->alone != NULL ? " Op Ar %s" : " Ar %s", s->arg);
    for (size_t i = 0; s->arg == NULL && s->words != NULL && s->words[i]; i++)
        buf_addf(out, "%s%s", i == 0 ? " Ar " : "|", s->words[i]);
    buf_add_char(out, '\n');
}

/* Finds "Default: a, b.", with any white space. */
static bool has_default(const char *item, const char *fallback)
{
    const char *end = strstr(item + 1, "\n.It ");
    const char *at = strstr(item, "\nDefault: ");

    if (at == NULL || (end != NULL && at > end))
        return false;
    at += strlen("\nDefault: ");
    for (; *fallback != '\0'; fallback++, at++) {
        if (*at != *fallback)
            return false;
        while (*fallback == ',' && isspace((unsigned char)at[1]))
            at++;
    }
    return strncmp(at, ".\n", 2) == 0;
}

FIXTURE(load_page, free_page);

/* Promise (Commands and options): options, YAML, help and manual are made from
 * one table. See also
 * `manual/default_yaml_holds_every_setting_with_its_default`,
 * `manual/an_option_sets_its_own_field_and_no_other`. */
TEST(the_manual_page_describes_every_option)
{
    struct buf item;

    buf_init(&item, 1000);
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *s = &table->spec[i];
        const char *at;

        if ((s->flags & OPTION_FILE_ONLY) != 0)
            continue;
        buf_clear(&item);
        add_item(&item, s);
        at = strstr(buf_str(&page), buf_str(&item));
        ck_assert_msg(at != NULL, "the page lacks%s", buf_str(&item));
        if (s->type != OPTION_FLAG && s->fallback != NULL)
            ck_assert_msg(has_default(at, s->fallback),
                          "default of --%s is not %s", s->name, s->fallback);
    }
    buf_fini(&item);
}

TEST(the_manual_page_describes_no_other_option)
{
    static const char mark[] = "Fl -";
    const char *at = strstr(buf_str(&page), ".Sh OPTIONS OF CRAWL");

    ck_assert_ptr_nonnull(at);
    while ((at = strstr(at, "\n.It ")) != NULL) {
        const char *name;

        at++;
        name = strstr(at, mark);
        if (name == NULL || name > strchr(at, '\n'))
            continue;
        name += strlen(mark);
        ck_assert_msg(option_find(table, bytes_of(name, strcspn(name, " \n"))) <
                          table->count,
                      "no such option: %.40s", name);
    }
}

/* ---- the table ---- */

FIXTURE(NULL, NULL);

TEST(names_and_letters_stand_once)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *s = &table->spec[i];

        ck_assert_uint_eq(option_find(table, bytes_of_str(s->name)), i);
        if (s->letter != 0)
            ck_assert_uint_eq(option_find_letter(table, s->letter), i);
        ck_assert(s->letter != 'h');                /* that is --help */
        ck_assert(strncmp(s->name, "no-", 3) != 0); /* --no-NAME */
    }
}

TEST(every_option_is_explained)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *s = &table->spec[i];

        ck_assert_msg(s->help != NULL && s->section != NULL, "%s", s->name);
        ck_assert_msg(s->type == OPTION_FLAG || s->arg != NULL ||
                          s->type == OPTION_CHOICE,
                      "%s", s->name);
        ck_assert_msg(s->type != OPTION_CHOICE || s->words != NULL, "%s",
                      s->name);
    }
}

/* A wrong offset or type in a row would write outside its field. So each option
 * is set alone, and only its field and its source may change. */
TEST(an_option_sets_its_own_field_and_no_other)
{
    static const char *const values[] = {
        [OPTION_FLAG] = "true",     [OPTION_COUNT] = "7",
        [OPTION_SIZE] = "128M",     [OPTION_TIME] = "7s",
        [OPTION_FRACTION] = "0.25", [OPTION_TEXT] = "x",
        [OPTION_LIST] = "css",
    };

    for (size_t i = 0; i < table->count; i++) {
        const struct option_spec *s = &table->spec[i];
        struct crawl_settings defaults, changed;
        const char *value = values[s->type];
        struct buf error;

        if (strcmp(s->name, "max-url-len") == 0)
            value = "77";
        if (s->type == OPTION_FLAG && strcmp(s->fallback, "true") == 0)
            value = "false";
        if (s->type == OPTION_CHOICE) /* any value but the default */
            value = strcmp(s->words[0], s->fallback) == 0 ? s->words[1]
                                                          : s->words[0];
        buf_init(&error, 1000);
        settings_init(&defaults);
        settings_init(&changed);
        ck_assert_msg(option_set(table, i, &changed, bytes_of_str(value),
                                 OPTION_FROM_LINE, &error) == STATUS_OK,
                      "--%s: %s", s->name, buf_str(&error));
        for (size_t k = 0; k < table->count; k++) {
            ck_assert_msg(option_equal(&table->spec[k], &defaults, &changed) ==
                              (k != i),
                          "--%s changes %s", s->name, table->spec[k].name);
            ck_assert_int_eq(option_given(table, k, &changed), k == i);
        }
        settings_fini(&defaults);
        settings_fini(&changed);
        buf_fini(&error);
    }
}
