/* SPDX-License-Identifier: MIT */
/*
 * fuzz_config.c - any bytes give settings or an error with its position;
 * settings are equal after being written and read again, but for secrets, which
 * are not written there.
 */
#include <assert.h>
#include <stdint.h>

#include "config/config.h"
#include "job/settings/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(const struct crawl_settings *s)
{
    struct crawl_settings back;
    struct buf text, error;

    buf_init(&text, 16 * CONFIG_CEILING);
    buf_init(&error, 10000);
    settings_init(&back);
    settings_to_yaml(s, &text);
    assert(buf_failed(&text) == STATUS_OK);
    if (text.len <= CONFIG_CEILING) {
        assert(config_read(&crawl_options, &back, buf_bytes(&text), "back",
                           OPTION_FROM_CRAWL, &error) == STATUS_OK);
        for (size_t i = 0; i < crawl_options.count; i++)
            assert((crawl_options.spec[i].flags &
                    (OPTION_OF_RUN | OPTION_LINE_ONLY | OPTION_SECRET)) != 0 ||
                   option_equal(&crawl_options.spec[i], s, &back));
    }
    settings_fini(&back);
    buf_fini(&text);
    buf_fini(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct crawl_settings s;
    struct buf error;

    buf_init(&error, 10000);
    settings_init(&s);
    if (config_read(&crawl_options, &s, bytes_of(data, size), "fuzz",
                    OPTION_FROM_FILE, &error) == STATUS_OK) {
        assert(error.len == 0);
        check_written(&s);
        if (settings_check(&s, &error) == STATUS_OK)
            check_written(&s);
        else
            assert(error.len > 0);
    } else {
        assert(error.len > 0);
    }
    settings_fini(&s);
    buf_fini(&error);
    return 0;
}
