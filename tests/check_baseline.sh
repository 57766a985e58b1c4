#!/bin/sh
# The regression check against results/baseline.json as a test: results, counts, and times from a factor of 2
# (on the baseline's machine; on another they are only shown). $1 is the program.
program=$1
cd "$(dirname "$0")/.." || exit 1

echo 1..1
report=$("$program" check --threshold 2x --no-progress -q 2>&1)
code=$?
[ $code -eq 0 ] || printf 'not '
echo "ok 1 - check against results/baseline.json (exit status $code)"
echo "$report" | sed 's/^/# /'
exit $code
