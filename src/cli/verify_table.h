/* Rows of errors, a column a group: what verify prints. */
#ifndef GPUBENCH_CLI_VERIFY_TABLE_H
#define GPUBENCH_CLI_VERIFY_TABLE_H

#include "model/agreement.h"

#define VERIFY_NAME_COLUMNS 30 /* what the errors leave of 80 */

void verify_table_head(const char *title);
/* verdict: "ok", "WRONG" or "" */
void verify_table_row(const char *name, const struct agreement *errors, const char *verdict);

#endif
