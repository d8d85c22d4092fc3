/*
 * stuck_end.h - the end of a process one of whose fetchers does not come back.
 */
#ifndef URLWEIR_CLI_RUN_STUCK_END_H
#define URLWEIR_CLI_RUN_STUCK_END_H

/* Everything is on disk and all was said. Ends the process with `code` and
 * takes nothing apart, as the thread of that fetcher may be using anything. */
_Noreturn void stuck_end(int code);

#endif
