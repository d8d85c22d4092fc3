/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "base/logger.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/unit.h"

static struct capture captured;

/* Promise (Commands and options): -v writes a line for each URL that is done,
 * -vv also the decisions, and no octet of a page reaches the terminal
 * unescaped. See also `tests/cli/watching.sh`. */
TEST(nothing_of_a_page_acts_on_a_terminal)
{
    /* ESC, CSI as one octet and as UTF-8, DEL, right-to-left override, LF */
    static const char page[] = "\x1b[31m \x9b"
                               "31m \xc2\x9b"
                               "31m \x7f \xe2\x80\xae \n \xc3\xa9";
    static const char shown[] = "\\x1b[31m \\x9b"
                                "31m \\xc2\\x9b"
                                "31m \\x7f \\xe2\\x80\\xae \\x0a \xc3\xa9";

    capture_start(&captured, STDERR_FILENO);
    log_warn("met", "url=%s", page);
    logger_line(LOG_LEVEL_WARN, bytes_of_str(page));
    logger_line(LOG_LEVEL_INFO, bytes_of_str("not at this level"));
    capture_end(&captured);
    ck_assert_msg(strncmp(captured.text, "urlweir: warning: met url=", 26) == 0,
                  "%s", captured.text);
    ck_assert_ptr_nonnull(strstr(captured.text, shown));
    ck_assert_ptr_nonnull(strstr(strchr(captured.text, '\n') + 1, shown));
    ck_assert_ptr_null(strpbrk(captured.text, "\x1b\x7f\x9b"));
    ck_assert_ptr_null(strstr(captured.text, "not at"));
    ck_assert(!logger_is_on(LOG_LEVEL_INFO));
}
