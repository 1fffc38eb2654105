#!/usr/bin/env bash
# Starts or stops a real Slurm of two nodes on this machine, each with its own slurmd:
#   several_nodes.sh start FOLDER [CPUS] [GPUS]   of each node; leaves FOLDER/slurm.conf
#   several_nodes.sh stop FOLDER
# Node `one` is this machine. Node `two` has a separate host name and network, so that nothing reaches it by 127.0.0.1.
# GPUs are counted, and files stand for them. Needs root and the packages slurm-wlm, munge and iproute2; ends with 77
# where the system does not let it make the network.
set -euo pipefail
verb=${1:?start or stop} folder=${2:?a folder} cpus=${3:-4} gpus=${4:-0}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
number=$(($(cksum <<<"$folder" | cut -d' ' -f1) % 10000))  # each folder has its own network and ports,
port=$((12000 + 2 * number)) net=xlm$number                # below those that connections get
first=198.18.$((number % 256)).1 second=198.18.$((number % 256)).2  # of the block for tests of networks (RFC 2544)

end() {
  for name in slurmd.two slurmd.one slurmctld; do
    pid=$(cat "$folder/$name.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || continue
    for _ in {1..50}; do kill -0 "$pid" 2>/dev/null && sleep 0.1; done
  done
  ip link delete "$net" 2>/dev/null || true
  ip netns delete "$net" 2>/dev/null || true
}

if [ "$verb" = stop ]; then
  end
  exit
fi

if ! { ip netns add "$net" && ip link add "$net" type veth peer name other netns "$net" &&
  ip address add "$first/30" dev "$net" && ip link set "$net" up &&
  ip -n "$net" address add "$second/30" dev other && ip -n "$net" link set other up &&
  ip -n "$net" link set lo up && ip -n "$net" route add default via "$first"; }; then
  end
  echo "[root] no network namespace can be made here: sudo make test-skipped" >&2
  exit 77
fi

mkdir -p "$folder"/{state,spool.one,spool.two} /run/munge
[ -s /etc/munge/munge.key ] || mungekey --create --force
chown -R munge: /etc/munge /run/munge /var/log/munge /var/lib/munge
munge -n </dev/null >/dev/null 2>&1 || su -s /bin/sh munge -c 'munged --force'
cat >"$folder/slurm.conf" <<CONF
ClusterName=several
SlurmctldHost=$(hostname -s)($first)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=5
MinJobAge=600
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=one NodeHostname=$(hostname -s) NodeAddr=$first CPUs=$cpus Gres=gpu:$gpus State=UNKNOWN
NodeName=two NodeHostname=two NodeAddr=$second CPUs=$cpus Gres=gpu:$gpus State=UNKNOWN
PartitionName=main Nodes=one,two Default=YES MaxTime=INFINITE State=UP
CONF
: >"$folder/gres.conf"
for ((gpu = 0; gpu < gpus; gpu++)); do : >"$folder/gpu$gpu"; done
((gpus == 0)) || echo "Name=gpu File=$folder/gpu[0-$((gpus - 1))]" >"$folder/gres.conf"
export SLURM_CONF=$folder/slurm.conf
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF" -N one
nsenter --net="/run/netns/$net" unshare --uts sh -c 'hostname two && exec slurmd -f "$SLURM_CONF" -N two'
for _ in {1..120}; do
  [ "$(sinfo -h -N -o %t | sort -u)" = idle ] && exit 0
  sleep 0.5
done
sinfo -N >&2
tail -n 20 "$folder"/*.log >&2
exit 1
