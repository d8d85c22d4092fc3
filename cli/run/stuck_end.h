/*
 * stuck_end.h - end a process when one of its fetchers does not come back.
 */
#ifndef URLWEIR_CLI_RUN_STUCK_END_H
#define URLWEIR_CLI_RUN_STUCK_END_H

/* Ends the process with `code` and frees nothing, since the thread of that
 * fetcher may be using anything. Call this when everything is on disk and every
 * message has been printed. */
_Noreturn void stuck_end(int code);

#endif
