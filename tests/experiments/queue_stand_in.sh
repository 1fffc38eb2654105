#!/bin/bash
# Stands in for the commands of OpenPBS (qsub, qstat, qdel) and LSF (bsub, bjobs, bkill), by the name it is called by.
# It takes the options and prints the lines that their manuals document, and starts every task of a job at once, or
# none while the file `full` is there. The folder of its state is in QUEUE_STAND_IN; `down` there makes it not answer.
set -eu
state=$QUEUE_STAND_IN
touch "$state/jobs"  # a line for a task: job, task, pid or Q
[ ! -e "$state/down" ] || { echo "cannot connect to the server" >&2; exit 1; }

start() {  # FIRST LAST: a job without tasks has the task "-"
  job=$((1000 + $(wc -l <"$state/jobs")))
  cat >"$state/$job.sh"
  for task in $(if [ "$1" = - ]; then echo -; else seq "$1" "$2"; fi); do
    pid=Q
    if [ ! -e "$state/full" ]; then
      setsid bash "$state/$job.sh" >>"$state/$job.$task.log" 2>&1 </dev/null &
      pid=$!
    fi
    echo "$job $task $pid" >>"$state/jobs"
  done
}

lives() {  # PID: a process that has ended is none, waited for or not
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null && [[ ${stat##*) } != [ZX]* ]]
}

printf "%s\n" "$@" >>"$state/${0##*/}.words"  # for the test: of every call

case ${0##*/} in
qsub)
  range=
  while [ $# -gt 0 ]; do
    case $1 in
    -N | -S | -j | -o | -l) shift 2 ;;
    -J) range=$2; shift 2 ;;
    *) echo "qsub: invalid option -- '$1'" >&2; exit 2 ;;
    esac
  done
  if [ -z "$range" ]; then
    start - -
    echo "$job.head"
  else
    [ "${range%-*}" -lt "${range#*-}" ] || { echo "qsub: illegal -J value" >&2; exit 2; }
    start "${range%-*}" "${range#*-}"
    echo "$job[].head"
  fi
  ;;
bsub)
  [ "$1" = -J ] || exit 255
  range=${2##*[}
  range=${range%]}
  start "${range%-*}" "${range#*-}"
  echo "This system is for authorised users only."
  echo "Job <$job> is submitted to default queue <normal>."
  ;;
qstat | bjobs)
  [ "${0##*/}" = bjobs ] || printf '%s\n' "" "head:" "$(printf '%60s' "Req'd  Req'd   Elap")" \
    'Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time' \
    '--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----'
  any=
  while read -r job task pid; do
    s=R
    [ "$pid" != Q ] || s=Q
    [ "$pid" = Q ] || lives "$pid" || s=X
    if [ "${0##*/}" = bjobs ]; then
      case $s in R) printf '%s|%s|RUN|2*node7\n' "$job" "$task" ;; Q) printf '%s|%s|PEND|-\n' "$job" "$task" ;; esac
      [ $s = X ] || any=1
      continue
    fi
    id=$job.head
    [ "$task" = - ] || id="$job[$task].head"
    [ "$task" != 0 ] || printf '%-15s user     workq    xlm-sweep     --    1   2    --  00:10 B   -- \n' "$job[].head"
    where=" -- "
    [ $s != R ] || where="00:00 node7/0*2"
    printf '%-15s user     workq    xlm-sweep     --    1   2    --  00:10 %s %s\n' "$id" $s "$where"
  done <"$state/jobs"
  [ "${0##*/}" != bjobs ] || [ -n "$any" ] || { echo "No unfinished job found" >&2; exit 255; }
  ;;
qdel | bkill)
  job=${1%%[*}
  task=-
  [ "$job" = "$1" ] || { task=${1#*[}; task=${task%]}; }
  grep -q "^$job $task Q\$" "$state/jobs"
  sed -i "s/^$job $task Q\$/$job $task 999999999/" "$state/jobs"
  ;;
esac
