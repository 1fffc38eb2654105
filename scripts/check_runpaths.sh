#!/usr/bin/env bash
# check_runpaths.sh PATH…: names the programs and libraries below these paths, of this project or beside it, that look for a
# library where a stranger may put one: an empty or relative part of RPATH or RUNPATH (the current folder), a folder that
# every user may write or make, a library that is needed by a relative path. Exit code 1 where there is one.
set -euo pipefail

# A folder in which every user can put an entry called $2; in a sticky one (/tmp) what is there stays its owner's.
lets_in_anyone() {
  local mode owner
  mode=$(stat -c %a "$1")
  (((8#$mode & 0002) != 0)) || return 1
  (((8#$mode & 01000) != 0)) && [ -e "$1/$2" ] || return 0
  owner=$(stat -c %u "$1/$2")
  [ "$owner" != 0 ] && [ "$owner" != "$(id -u)" ]
}

# Whether a stranger can make the absolute path $1 lead elsewhere, or put files there.
is_open_to_all() {
  local folder=/ rest=${1#/} name
  while :; do
    name=${rest%%/*}
    if [ -n "$name" ] || [ -z "$rest" ]; then
      ! lets_in_anyone "$folder" "${name:-.none}" || return 0
      [ -n "$rest" ] && [ -d "$folder/$name" ] || return 1  # the end, or nothing that only others could make
      folder=$folder/$name
    fi
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
  done
}

found=0
complain() {
  echo "$1: $2"
  found=1
}
seen=0
while IFS= read -r -d '' file; do
  dynamic=$(readelf -dW "$file" 2>/dev/null) || continue
  [ -n "$dynamic" ] || continue
  seen=$((seen + 1))
  while IFS= read -r path; do
    while IFS= read -r part; do
      case $part in
        '$ORIGIN' | '$ORIGIN/'*) ;;
        /*) if is_open_to_all "$part"; then complain "$file" "any user may write in $part"; fi ;;
        *) complain "$file" "'$part' in [$path] is below the current folder" ;;
      esac
    done < <(sort -u <<<"${path//:/$'\n'}")
  done < <(sed -nE 's/^.*\((RPATH|RUNPATH)\).*\[(.*)\]$/\2/p' <<<"$dynamic")
  while IFS= read -r needed; do
    case $needed in
      /* | '$ORIGIN/'*) ;;
      */*) complain "$file" "'$needed' is needed, from below the current folder" ;;
    esac
  done < <(sed -nE 's/^.*\(NEEDED\).*\[(.*)\]$/\1/p' <<<"$dynamic")
done < <(find "$@" -type f \( -perm -u+x -o -name '*.so*' \) -not -path '*/CMakeFiles/*' -print0)
[ $seen -gt 0 ] || complain "$*" "no program or library is here"
exit $found
