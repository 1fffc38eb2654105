# An image of Debian with the portable folder that this file lies in, at /opt/xlm:
#   docker build --tag xlm xlm-VERSION-COMMIT-x86_64
# Nothing is run or fetched for it but the base, whose digest is named here. So it is the same image wherever it is built,
# by docker, podman or buildah, and Apptainer makes its file from it (`make image`, docs/install.md).
ARG BASE=docker.io/library/debian:bookworm-20260824-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171
FROM ${BASE}
COPY . /opt/xlm/
ENV PATH=/opt/xlm/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["xlm", "--help"]
