#!/bin/sh
# Runs a program under Oclgrind, which lets it end as if nothing were wrong: here, anything on standard error
# is exit status 99. (A file given with --log would be emptied by each new context.)
# Unoptimised, because Oclgrind 21.10 does not know the notes that inlining restrict pointers leaves behind
# (llvm.experimental.noalias.scope.decl). Without --uninitialized, because it takes what the host writes into
# buffers mapped for reading and writing for unwritten; poisoned outputs show what a kernel left out.
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
oclgrind --build-options -cl-opt-disable --data-races "$@" 2>"$log"
status=$?
if [ -s "$log" ]; then
    head -n 200 "$log"
    exit 99
fi
exit $status
