#!/bin/sh
# N checks in a row of the program against a baseline that it makes itself: nothing has changed, so that every
# "slower" is a false alarm. Prints how often each verdict fell. KEEP=FOLDER keeps the baseline and the reports.
#
#     tests/aa.sh [N [OPTION VALUE...]]     N: 20; options are check's (--threshold 2x, --config crossover, -d gpu)
set -eu
cd "$(dirname "$0")/.."

n=${1:-20}
[ $# -eq 0 ] || shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

start=$(date +%s)
./gpubench check --save -q --no-progress -b "$folder/baseline.json" "$@" >"$folder/made"
echo "baseline: $(($(date +%s) - start)) s"
# what only --save takes is in the baseline now
for option in "$@"; do
    shift
    case $option in
    --config | --runs) skip=value ;;
    *) if [ -n "${skip-}" ]; then skip=; else set -- "$@" "$option"; fi ;;
    esac
done
i=0
while [ $i -lt "$n" ]; do
    i=$((i + 1))
    code=0
    start=$(date +%s)
    ./gpubench check -b "$folder/baseline.json" "$@" -q --no-progress --format json >"$folder/$i.json" || code=$?
    printf 'check %s: %s s, exit status %s:' "$i" "$(($(date +%s) - start))" "$code"
    sed -n 's/.*"verdict": "\(.*\)",/\1/p' "$folder/$i.json" | sort | uniq -c | awk '{ printf " %s", $0 } END { print "" }' |
        tr -s ' '
    if [ -n "${KEEP-}" ]; then cp "$folder"/*.json "$KEEP/"; fi
done
echo "all $n checks:"
sed -n 's/.*"verdict": "\(.*\)",/\1/p' "$folder"/[0-9]*.json | sort | uniq -c
