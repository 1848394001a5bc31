#!/bin/sh
# Runs the programs of this folder on the machine's GPU, each within a time limit, and prints a
# table last: sh run.sh [PIPELINES]. So many random pipelines are compared. The folder logs has what
# the programs have printed. Ends with 1 if anything failed.
pipelines=${1:-500}
here=$(cd "$(dirname "$0")" && pwd)
logs=$here/logs
failed=0
mkdir -p "$here/programs" "$logs"
rm -f "$logs"/*

LD_LIBRARY_PATH=$here/lib "$here/bin/zstd" -q -dc --long=28 "$here/programs.tar.zst" |
    tar -xf - -C "$here/programs" || exit 1

# one NAME SECONDS PROGRAM [ARGUMENT...]: a row of the table.
one() {
    name=$1 seconds=$2 program=$here/programs/$3
    shift 3
    [ -x "$program" ] || return 0
    echo "$name ..."
    begin=$(date +%s)
    LD_LIBRARY_PATH=$here/lib timeout -k 10 "$seconds" "$program" "$@" >"$logs/$name" 2>&1
    code=$?
    case $code in
    0) how=passed ;;
    124 | 137) how="out of time" failed=1 ;;
    *) how="failed ($code)" failed=1 ;;
    esac
    printf '%-18s %-12s %5d s  %s\n' "$name" "$how" $(($(date +%s) - begin)) \
        "$(tail -n 1 "$logs/$name" | cut -c 1-120)" >>"$logs/table"
}

nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null
one runtime 120 cuda_smoke
one fault 60 cuda_smoke fault
one language 300 test_compat_gpu
one random 600 tessera-fuzz --gpu --seed-range "0:$pipelines" --seconds 500 --jobs "$(nproc)"
one tensor 600 tessera-fuzz --tensor --seed-range "0:$pipelines" --seconds 500 --jobs "$(nproc)"
one bench 300 bench_gpu
[ ! -f "$logs/bench" ] || cat "$logs/bench"
echo
cat "$logs/table"
exit $failed
