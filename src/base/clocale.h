/* Numbers in files and tables have a decimal point whatever the user's locale says: code that converts
 * numbers runs between these two calls, which affect the calling thread alone. */
#ifndef GPUBENCH_BASE_CLOCALE_H
#define GPUBENCH_BASE_CLOCALE_H

#include <locale.h>

/* Switches the thread to the "C" locale; the value returned goes to clocale_leave. */
locale_t clocale_enter(void);
void clocale_leave(locale_t previous);

#endif
