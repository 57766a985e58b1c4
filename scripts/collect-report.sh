#!/bin/bash
# Collects in one folder what is needed to judge a machine: hardware, drivers, who uses the GPU, correctness,
# the project's own tests, every table, and the comparison with an earlier folder.
#
#   scripts/collect-report.sh [-e EARLIER] [-l SECONDS] [-p PROGRAM] [-n] FOLDER [SWEEP-OPTION...]
#
#   FOLDER      where to; it must not exist yet
#   -e EARLIER  the folder of an earlier run, to compare with
#   -l SECONDS  time for all of it; what no time is left for is not run. Default: 3600
#   -p PROGRAM  the gpubench to run. Default: the one built here, else the one in PATH
#   -n          leave out the project's own tests
#   options behind FOLDER go to every sweep: -d gpu, -a size=64
#
# Each stage has a time limit of its own, and its outcome is kept in FOLDER/stages.tsv whatever it is: a machine
# on which something fails is the one whose report is wanted. So a stage that fails stops nothing, and the exit
# code is 0 unless the folder cannot be made (1) or the options are wrong (2).
set -u
top=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    sed -n '5,13s/^# \{0,1\}//p' "$0"
}

earlier='' limit=3600 program='' tests=yes
while getopts e:l:p:nh option; do
    case $option in
    e) earlier=$OPTARG ;;
    l) limit=$OPTARG ;;
    p) program=$OPTARG ;;
    n) tests=no ;;
    h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done
shift $((OPTIND - 1))
case $limit in
'' | *[!0-9]*) echo "collect-report.sh: -l $limit: not a number of seconds" >&2 && exit 2 ;;
esac
[ $# -gt 0 ] || { usage >&2 && exit 2; }
if [ -z "$program" ]; then
    program=$top/gpubench
    [ -x "$program" ] || program=$(command -v gpubench || echo "$top/gpubench")
fi
if [ -n "$earlier" ]; then
    earlier=$(cd "$earlier" && pwd) || exit 1
fi
mkdir -p "$(dirname "$1")" && mkdir "$1" || exit 1
# The program is called by its name, and in the folder, so that no path of this machine is in its results.
case $program in
*/*)
    PATH=$(cd "$(dirname "$program")" && pwd):$PATH
    program=$(basename "$program")
    ;;
esac
cd "$1" || exit 1
folder=$1
shift
mkdir log
printf 'stage\toutcome\tseconds\n' >stages.tsv

record() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>stages.tsv
    printf '%-26s %s\n' "$1" "$2"
}

# stage NAME SECONDS FILE COMMAND...: its output goes to FILE, what it says besides to log/NAME
stage() {
    local name=$1 seconds=$2 file=$3 start=$SECONDS left=$((limit - SECONDS)) code outcome
    shift 3
    if [ $left -lt 5 ]; then
        record "$name" "not run: the $limit s are over" 0
        return
    fi
    [ "$seconds" -le $left ] || seconds=$left
    # An interrupt first: a sweep keeps what it has measured.
    timeout -s INT -k 10 "$seconds" "$@" >"$file" 2>"log/$name" </dev/null
    code=$?
    case $code in
    0) outcome=ok ;;
    124 | 137) outcome="over its $seconds s" ;;
    3) outcome="exit code 3: slower" ;;
    5) outcome="exit code 5: a result was wrong" ;;
    126 | 127) outcome="not run: $(tail -n 1 "log/$name")" ;;
    *) outcome="exit code $code" ;;
    esac
    [ -s "log/$name" ] || rm "log/$name"
    [ -s "$file" ] || rm "$file"
    record "$name" "$outcome" $((SECONDS - start))
}

# The stages that are functions of this script; timeout runs them in a shell of their own.

have() {
    command -v "$1" >/dev/null 2>&1
}

show() {
    printf '\n== %s\n' "$*"
    "$@" 2>&1
}

show_files() {
    local file
    for file; do
        [ ! -r "$file" ] || show cat "$file"
    done
}

hardware() {
    show uname -srm
    ! have lscpu || show lscpu
    ! have free || show free -m
    show_files /etc/os-release /proc/loadavg /sys/fs/cgroup/cpu.max /sys/fs/cgroup/memory.max \
        /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
    ! have lstopo-no-graphics || show lstopo-no-graphics
    ! have lspci || show lspci
    ! have nvidia-smi || show nvidia-smi -q
    ! have rocm-smi || show rocm-smi -a
    return 0
}

drivers() {
    show "$program" --version -v
    show_files /etc/OpenCL/vendors/*.icd /proc/driver/nvidia/version
    show "$program" devices
    ! have clinfo || show clinfo
    return 0
}

# Who holds a GPU open: a list, "none", or "unknown" with the reason.
gpu_users() {
    local nodes=' ' node process file name found='' hidden=0
    for node in /dev/nvidia[0-9]* /dev/dri/render* /dev/kfd; do
        [ ! -e "$node" ] || nodes+="$node "
    done
    for process in /proc/[0-9]*; do
        [ -r "$process/fd" ] || { [ ! -d "$process" ] || hidden=$((hidden + 1)); continue; }
        for file in "$process"/fd/*; do
            name=$(readlink "$file") || continue
            [[ $nodes == *" $name "* ]] || continue
            found+="${process#/proc/} $(cat "$process/comm") $name"$'\n'
            break
        done
    done
    # In a container the driver may know of processes that /proc does not show.
    ! have nvidia-smi ||
        found+=$(nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader 2>/dev/null)
    if [ -n "$found" ]; then
        printf '%s\n' "$found"
    elif [ "$nodes" = ' ' ]; then
        echo "unknown: there is no device file of a GPU"
    elif [ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ]; then
        echo "unknown: in a container, processes outside of it cannot be seen"
    elif [ $hidden -gt 0 ]; then
        echo "unknown: $hidden processes cannot be looked into"
    else
        echo none
    fi
    ! have nvidia-smi || show nvidia-smi \
        --query-gpu=name,utilization.gpu,clocks.sm,temperature.gpu,power.draw,memory.used --format=csv
}

own_tests() {
    if ! have make || ! [ -f "$top/Makefile" ]; then
        echo "there is no make, or no source tree"
        return 127
    fi >&2
    make -C "$top" -s -k -j"$(nproc)" check-unit check-kernels
}

export program top
export -f have show show_files hardware drivers gpu_users own_tests

# ---- the report ----

stage gpu-users 20 gpu-users.txt bash -c gpu_users
stage hardware 30 hardware.txt bash -c hardware
stage drivers 30 drivers.txt bash -c drivers
stage verify 120 verify.txt "$program" verify --no-progress
# The suite's members one by one, so that one that hangs costs its own time only.
for name in crossover forward gradient batch crossover-record reduction phases scaling; do
    stage "$name" 300 "$name.txt" "$program" sweep "$name" -o "$name.json" --no-progress "$@"
done
stage profile 120 profile.txt "$program" profile --phases --kernels -o profile.json --no-progress
stage what-if 120 what-if.txt "$program" profile --what-if resident,pinned,pool,local \
    -o what-if.json --no-progress

stage finite-differences 60 finite-differences.txt "$program" verify --finite-differences --no-progress
stage repeats 120 repeats.txt "$program" verify --repeats 100 --no-progress

for file in *.json; do
    name=$(basename "$file" .json)
    if [ -z "$earlier" ]; then
        record check "not run: no earlier folder was given (-e)" 0
        break
    elif [ -f "$earlier/$name.json" ]; then
        stage "check-$name" 60 "check-$name.txt" "$program" check "$file" --baseline "$earlier/$name.json"
    else
        record "check-$name" "not run: the earlier folder has no $name.json" 0
    fi
done

# Last, since they say least about the machine.
if [ $tests = yes ]; then
    stage tests 600 tests.txt bash -c own_tests
else
    record tests "not run: -n" 0
fi

echo "the report is in $folder"
