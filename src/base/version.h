/* What this executable is and how it was built: for --version and for results files. */
#ifndef GPUBENCH_BASE_VERSION_H
#define GPUBENCH_BASE_VERSION_H

const char *version_number(void);   /* "0.1.0" */
const char *version_revision(void); /* git's, with "-dirty" where the tree was changed; or "unknown" */
const char *version_compiler(void); /* "GCC 12.2.0" */
const char *version_flags(void);    /* the flags that change code: "-O2 -g -ffp-contract=off" */

#endif
