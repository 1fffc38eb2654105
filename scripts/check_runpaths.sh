#!/usr/bin/env bash
# check_runpaths.sh PATH…: names the programs and libraries below these paths that look for libraries where another user may
# put one. These are: an empty or relative part of RPATH or RUNPATH (the current folder), a folder that every user may
# write or make, and a library that is needed by a relative path. Exit code 1 if there is one.
set -euo pipefail

# Whether every user can put an entry $2 into the folder $1. In a sticky folder (/tmp) existing entries are safe.
any_user_may_put() {
  local mode owner
  mode=$(stat -c %a "$1")
  (((8#$mode & 0002) != 0)) || return 1
  (((8#$mode & 01000) != 0)) && [ -e "$1/$2" ] || return 0
  owner=$(stat -c %u "$1/$2")
  [ "$owner" != 0 ] && [ "$owner" != "$(id -u)" ]
}

# Whether another user can make the absolute path $1 lead elsewhere, or put files there.
is_open_to_all() {
  local folder=/ rest=${1#/} name
  while :; do
    name=${rest%%/*}
    if [ -n "$name" ] || [ -z "$rest" ]; then
      ! any_user_may_put "$folder" "${name:-.none}" || return 0
      [ -n "$rest" ] && [ -d "$folder/$name" ] || return 1  # the path ends here, and no other user can add to it
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
