#include "base/clocale.h"

locale_t clocale_enter(void)
{
    /* glibc hands out its static "C" object here: no allocation, nothing to free, cannot fail. Elsewhere
     * a failure leaves the locale as it is. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c == (locale_t)0 ? (locale_t)0 : uselocale(c);
}

void clocale_leave(locale_t previous)
{
    if (previous == (locale_t)0)
        return;
    locale_t used = uselocale(previous);
    if (used != LC_GLOBAL_LOCALE && used != previous)
        freelocale(used);
}
