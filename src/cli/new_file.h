/* Whether a file that is to be written at the end of a long run can be, found out before it begins. */
#ifndef GPUBENCH_CLI_NEW_FILE_H
#define GPUBENCH_CLI_NEW_FILE_H

#include "base/err.h"

/* A results file, which keeps FILE.partial until it is complete. ERR_IO: it is there already, or is a folder,
 * an unfinished run has left its journal, or its folder is missing or cannot be written to. Makes nothing. */
bool new_file_check(const char *name, struct err *err) GB_NODISCARD;

/* Likewise, only that its folder is there and can be written to: the file itself may be replaced. */
bool new_file_folder_check(const char *name, struct err *err) GB_NODISCARD;

/* Likewise for a file in a folder that would be made first, if its parent allows it. */
bool new_folder_check(const char *name, struct err *err) GB_NODISCARD;

#endif
