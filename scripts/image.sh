#!/usr/bin/env bash
# image.sh FOLDER: makes FOLDER.image.tar from a folder of `make portable`, by its Dockerfile, with the first of docker, podman
# and buildah that works here. The file is what `docker load`, `podman load` and `apptainer build` take.
#   BUILDER=podman  this one
#   BASE=IMAGE      another image than Debian's, such as one that is on this machine already
set -euo pipefail
folder=${1%/}
[ -e "$folder/Dockerfile" ] || {
  echo "image: $folder has no Dockerfile: make the folder with libtorch inside (make portable)" >&2
  exit 1
}
for builder in ${BUILDER:-docker podman buildah} ''; do
  if [ -z "$builder" ]; then
    echo "image: no ${BUILDER:-docker, podman or buildah} that works is here (Debian: apt-get install buildah)" >&2
    exit 1
  fi
  "$builder" info >/dev/null 2>&1 && break  # docker is often there without its daemon
done
release=$(basename "$folder")
release=${release#xlm-}
tag=localhost/xlm:$(tr -c 'a-zA-Z0-9_.\n-' _ <<<"${release%-x86_64}")  # no other characters are allowed
out=$folder.image.tar
"$builder" build ${BASE:+--build-arg "BASE=$BASE"} --tag "$tag" "$folder" >&2
rm -f "$out"  # archives are not overwritten
if [ "$builder" = buildah ]; then
  buildah push --quiet "$tag" "docker-archive:$out:$tag"
else
  "$builder" save --output "$out" "$tag"
fi
du -sh "$out" | while read -r size path; do echo "$path: $size"; done
