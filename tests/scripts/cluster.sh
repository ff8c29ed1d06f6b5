#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Random programs on ranks have the bits of one process; what parts do is in their footprints; and
# ranks that mpirun starts write one file with the bits of one process, say how they shared the work,
# go on from checkpoints of others, and end together when one of them is killed, without a file.
set -euo pipefail
vyre=$VYRE_BUILD/vyre
fail() { echo "$1" && exit 1; }
source=$PWD
cd "$(mktemp -d)"
export VYRE_HOME=$PWD/home
"$VYRE_BUILD/random_footprint" 150 0 >said || fail "$(cat said)"
"$VYRE_BUILD/random_cluster" 60 0 >said || fail "$(cat said)"

[ -e "$VYRE_BUILD/libvyre-mpi.so" ] || { echo "built without MPI" && exit 77; }
command -v mpirun >/dev/null || { echo "mpirun is not installed" && exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
ranks() { timeout 60 mpirun -n "$1" "$vyre" run "${@:2}" 2>err; }
ranks 2 "$source/examples/saxpy.vyre" a=2 x=rand:1 y=rand:1 --out y=y.npy >out ||
  { cat err; grep -qi 'mpi' err && echo "mpirun does not work here" && exit 77; fail "no ranks"; }
same() { # RANKS OUT-BUFFER FILE WORD...
  ranks "$1" "${@:3}" --out "$2=many.npy" --explain >out || fail "$(cat out err)"
  "$vyre" run "${@:3}" --out "$2=one.npy" >/dev/null
  cmp many.npy one.npy || fail "$1 ranks give other bits: ${*:3}"
}
same 3 y "$source/examples/saxpy.vyre" a=2 x=rand:9999 y=rand:9999:7
grep -q 'on 3 ranks: split along x' out || fail "$(cat out)"
same 4 c "$source/examples/matmul.vyre" m=96 n=64 k=48 a=rand b=rand:3072:3
grep -q 'on 4 ranks: split along y' out || fail "$(cat out)"
same 3 counts "$source/examples/histogram.vyre" data=rand:65536 counts=ones:256
grep -q 'on 3 ranks: split along x' out || fail "$(cat out)"

# Every operation that ranks combine, on the numbers that tell signed from unsigned.
folds=()
{
  echo 'program folds()'
  echo 'buffer x: i64[] read'
  body=
  for type in i32 u32 i64 u64; do
    for op in add sub min max and or xor; do
      case $op in and) bits=' | 986895' ;; or) bits=' & 252645135' ;; *) bits= ;; esac
      echo "buffer ${type}_$op: $type[1] readwrite"
      body+="  atomic_$op(${type}_$op[0], $type((v >> 3)$bits))"$'\n'
      folds+=("${type}_$op")
    done
  done
  printf 'region r grid(len(x)) {\n  let v = x[global_id.x] * 6148914691236517205\n%s}\n' "$body"
} >folds.vyre
set -- folds.vyre x=iota:20000 "${folds[@]/%/=fill:1234567:1}"
many=() one=()
for fold in "${folds[@]}"; do many+=(--out "$fold=many.$fold.npy") one+=(--out "$fold=one.$fold.npy"); done
ranks 3 "$@" "${many[@]}" --explain >out || fail "$(cat out err)"
"$vyre" run "$@" "${one[@]}" >/dev/null
grep -q 'on 3 ranks: split along x' out || fail "$(cat out)"
for fold in "${folds[@]}"; do
  cmp many.$fold.npy one.$fold.npy || fail "ranks combine $fold otherwise"
done

# The same over TCP instead of shared memory, often enough that shares are measured.
export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
same 4 c "$source/examples/matmul.vyre" m=96 n=64 k=48 a=rand b=rand:3072:3 --repeat 12
same 5 counts "$source/examples/histogram.vyre" data=rand:65536 counts=ones:256 --repeat 12
unset OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include

saxpy=$source/examples/saxpy.vyre
# Files are read in parts: of any size, also where ranks get nothing, or where only all of it can be read.
for count in 1 2 5 10007; do
  "$vyre" run "$saxpy" a=1 x=rand:$count y=zeros --out y=x.npy >/dev/null
  same 4 y "$saxpy" a=2 x=@x.npy y=@x.npy --repeat 3
  same 3 y "$saxpy" a=2 x=iota:$count y=fill:3:$count
done
"$vyre" run "$saxpy" a=1 x=rand:10007 y=zeros --out y=x.csv >/dev/null
same 3 y "$saxpy" a=2 x=@x.csv y=@x.npy
truncate -s -4 x.npy
ranks 3 "$saxpy" a=2 x=@x.npy y=ones --out y=short.npy >out && fail "a file that was cut off was taken"
grep -q 'its shape needs' err || fail "$(cat err)"
if ! nm "$VYRE_BUILD/vyre" | grep '__[at]san_init' >/dev/null; then
  "$vyre" run "$saxpy" a=1 x=rand:33554432 y=zeros --out y=x.npy >/dev/null # 128 MiB
  most() { # the resident KiB of the largest rank but 0, which writes the file
    timeout 100 mpirun -n 4 python3 -c 'import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
if os.environ["OMPI_COMM_WORLD_RANK"] != "0": print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
      "$vyre" run "$@" | sort -n | tail -1
  }
  little=$(most "$saxpy" a=2 x=rand:9999 y=rand:9999) much=$(most "$saxpy" a=2 x=@x.npy y=@x.npy)
  echo "resident: $much KiB of the largest rank, $little without data"
  # A quarter of 256 MiB, and room to read; whole files were 256 MiB more.
  [ $((much - little)) -lt $((100 * 1024)) ] || fail "$much KiB on a rank, $little without data"
  rm x.npy
fi

# A rank that was started with other numbers: all of them say so, and none waits.
status=0
timeout 60 mpirun -n 1 "$vyre" run "$saxpy" a=2 x=rand:9999 y=rand:9999 --out y=odd.npy : \
  -n 1 "$vyre" run "$saxpy" a=3 x=rand:9999 y=rand:9999 --out y=odd.npy >out 2>err || status=$?
[ $status != 0 ] && [ $status != 124 ] || fail "ranks with other numbers: $status"
grep -q 'rank 1 makes another call than rank 0' err || fail "$(cat err)"
[ ! -e odd.npy ] || fail "ranks with other numbers wrote a file"

# A launcher of another MPI: each process is alone, has the right bits, and rank 0 says so.
OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 timeout 60 \
  "$vyre" run "$saxpy" a=2 x=rand:99 y=rand:99 --out y=many.npy >out 2>err || fail "$(cat err)"
"$vyre" run "$saxpy" a=2 x=rand:99 y=rand:99 --out y=one.npy >/dev/null
cmp many.npy one.npy || fail "a rank that is alone gives other bits"
grep -q 'the launcher started 4 ranks, but MPI sees 1' err || fail "$(cat err)"

# Steps and checkpoints: other numbers of ranks, and one process, go on with the bits of one run.
cat >waves.vyre <<'END'
program waves(rate: f32)
buffer now: f32[30011] read
buffer next: f32[30011] readwrite
region step grid(30011) {
  let i = global_id.x
  next[i] = now[i] + rate * (now[i - 1] + now[i + 1] - 2.0 * next[i])
}
END
words=(waves.vyre rate=0.2 now=rand next=rand:30011:7 --swap now,next)
"$vyre" run "${words[@]}" --steps 9 --out next=one.npy >/dev/null
ranks 4 "${words[@]}" --steps 5 --checkpoint saved --every 2 >out || fail "$(cat out err)"
[ "$(ls saved | wc -l)" = 5 ] || fail "$(ls saved)"
cp -r saved first
ranks 3 "${words[@]}" --steps 7 --checkpoint saved --resume >out || fail "$(cat out err)"
"$vyre" run "${words[@]}" --steps 8 --checkpoint saved --resume >out || fail "$(cat out)"
ranks 2 "${words[@]}" --steps 9 --checkpoint saved --resume --out next=many.npy >out || fail "$(cat out err)"
cmp many.npy one.npy || fail "other ranks that went on give other bits"
"$vyre" run "${words[@]}" --steps 9 --checkpoint first --resume --out next=many.npy >/dev/null
cmp many.npy one.npy || fail "one process that went on gives other bits"
refused() { # TEXT WORD...
  "$vyre" run "${@:2}" >out 2>&1 && fail "taken: ${*:2}"
  grep -q "$1" out || fail "$(cat out)"
  ranks 2 "${@:2}" --out next=refused.npy >out && fail "taken by ranks: ${*:2}"
  grep -q "$1" err || fail "$(cat err)"
  [ ! -e refused.npy ] || fail "a file of a refused checkpoint"
}
refused 'beyond --steps 3' "${words[@]}" --steps 3 --checkpoint first --resume
refused 'belongs to something else' waves.vyre rate=0.3 "${words[@]:2}" --steps 9 --checkpoint first --resume
refused 'No such file' "${words[@]}" --steps 9 --checkpoint none --resume
truncate -s -1 first/part-0-*
refused 'bytes, and had' "${words[@]}" --steps 9 --checkpoint first --resume

# A rank that is killed while checkpoints are saved leaves one that is whole.
save() { timeout 60 mpirun -n 3 bash -c 'echo $$ >saver.$OMPI_COMM_WORLD_RANK; exec '"$vyre"' run "$@"' _ "$@" >out 2>&1; }
"$vyre" run "${words[@]}" --steps 1 --checkpoint kept >/dev/null
for rank in 0 1 2; do
  rm -f saver.*
  save "${words[@]}" --steps 100000000 --checkpoint kept --every 1 --resume &
  job=$!
  before=$(sed -n 's/^step = //p' kept/checkpoint.toml)
  for _ in $(seq 100); do
    [ "$(sed -n 's/^step = //p' kept/checkpoint.toml)" -gt $((before + rank)) ] && break || sleep 0.1
  done
  kill -9 "$(cat saver.$rank)"
  wait $job && fail "the job went on without a rank"
done
done_steps=$(sed -n 's/^step = //p' kept/checkpoint.toml)
[ "$done_steps" -gt 3 ] || fail "no checkpoint was saved: step $done_steps"
"$vyre" run "${words[@]}" --steps $((done_steps + 3)) --out next=one.npy >/dev/null
ranks 2 "${words[@]}" --steps $((done_steps + 3)) --checkpoint kept --resume --out next=many.npy >out ||
  fail "$(cat out err)"
cmp many.npy one.npy || fail "a checkpoint of a job that was killed gives other bits"

cat >slow.vyre <<'END'
program slow(n: u32)
buffer o: u32[65536] write
region r grid(65536) workgroup(64) {
  var s: u32 = global_id.x
  for k in 0..n { s = s * 1664525 + (s >> 7) + k }
  o[global_id.x] = s
}
END
begin() { timeout 60 mpirun -n 3 --tag-output bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec '"$vyre"' run slow.vyre n=4000000000 --threads 1 --out o=half.npy' >out 2>err; }
begin &
job=$!
for _ in $(seq 100); do [ -s pid.1 ] && break || sleep 0.1; done
sleep 1
kill -9 "$(cat pid.1)"
status=0
wait $job || status=$?
[ $status != 0 ] && [ $status != 124 ] || fail "the job went on without a rank"
grep -q 'rank 1' err out || fail "$(cat err)"
[ -z "$(compgen -G '*half*')" ] || fail "$(ls) after a rank was lost"
