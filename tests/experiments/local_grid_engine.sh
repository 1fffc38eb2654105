#!/usr/bin/env bash
# Starts or stops a Grid Engine of one host in a folder, from Debian's packages. Needs root.
#   local_grid_engine.sh start FOLDER SLOTS    prints the variables by which its commands find it
#   local_grid_engine.sh stop FOLDER
set -euo pipefail
verb=${1:?start or stop} folder=${2:?a folder} slots=${3:-4}
port=$((20000 + ($(cksum <<<"$folder" | cut -d' ' -f1) % 20000)))  # its own pair of ports for each folder
export SGE_ROOT=$folder/root SGE_CELL=default SGE_QMASTER_PORT=$port SGE_EXECD_PORT=$((port + 1))

end() {
  for file in "$folder"/exec/*/execd.pid "$folder/master/qmaster.pid"; do
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 50); do [ -d "/proc/$pid" ] && [ "$(cut -d' ' -f3 "/proc/$pid/stat")" != Z ] || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null || true
  done
}
[ "$verb" = start ] || { end; exit 0; }

common=$SGE_ROOT/default/common sge=/usr/lib/gridengine share=/usr/share/gridengine
mkdir -p "$common" "$folder"/{spool,master,exec}
for part in bin lib util utilbin; do ln -s /var/lib/gridengine/$part "$SGE_ROOT/"; done
cat >"$common/bootstrap" <<END
admin_user none
default_domain none
ignore_fqdn true
spooling_method berkeleydb
spooling_lib libspoolb
spooling_params $folder/spool
binary_path /usr/sbin
qmaster_spool_dir $folder/master
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
END
echo localhost >"$common/act_qmaster"
echo "localhost $(hostname)" >"$common/host_aliases"
sed "s#^execd_spool_dir.*#execd_spool_dir $folder/exec#; s/^\(min_[ug]id\).*/\1 0/" \
  $share/default-configuration >"$folder/configuration"
{
  $sge/spoolinit berkeleydb libspoolb "$folder/spool" init
  $sge/spooldefaults configuration "$folder/configuration"
  $sge/spooldefaults complexes $share/util/resources/centry
  $sge/spooldefaults usersets $share/util/resources/usersets
  $sge/spooldefaults managers root
  sge_qmaster
  for _ in $(seq 100); do ! qconf -sh >/dev/null 2>&1 || break; sleep 0.1; done
  qconf -as localhost
  printf '%s\n' 'pe_name smp' 'slots 999' 'user_lists NONE' 'xuser_lists NONE' 'start_proc_args NONE' \
    'stop_proc_args NONE' 'allocation_rule $pe_slots' 'control_slaves FALSE' 'job_is_first_task TRUE' \
    'urgency_slots min' 'accounting_summary FALSE' 'qsort_args NONE' >"$folder/pe"
  qconf -Ap "$folder/pe"
  limits=$(for kind in rt cpu fsize data stack core rss vmem; do printf 's_%s INFINITY\nh_%s INFINITY\n' $kind $kind; done)
  none=$(printf '%s NONE\n' load_thresholds suspend_thresholds ckpt_list prolog epilog starter_method suspend_method \
    resume_method terminate_method owner_list user_lists xuser_lists subordinate_list complex_values projects xprojects \
    calendar)
  printf '%s\n' 'qname all.q' 'hostlist localhost' 'seq_no 0' 'nsuspend 1' 'suspend_interval 00:05:00' 'priority 0' \
    'min_cpu_interval 00:05:00' 'processors UNDEFINED' 'qtype BATCH' 'pe_list smp' 'rerun TRUE' "slots $slots" \
    'tmpdir /tmp' 'shell /bin/bash' 'shell_start_mode unix_behavior' 'notify 00:00:60' 'initial_state default' \
    "$none" "$limits" >"$folder/queue"
  qconf -Aq "$folder/queue"
  qconf -ssconf | sed 's/^schedule_interval.*/schedule_interval 0:0:1/; s/^flush_\(submit\|finish\)_sec.*/flush_\1_sec 1/
    s/^load_formula.*/load_formula slots/; s/^job_load_adjustments.*/job_load_adjustments NONE/' >"$folder/scheduling"
  qconf -Msconf "$folder/scheduling"
  sge_execd
  for _ in $(seq 100); do ! qstat -f 2>/dev/null | grep -q "lx-amd64 *$" || break; sleep 0.1; done
} >"$folder/log" 2>&1
qstat -f | grep -q "^all.q@"
env | grep '^SGE_'
