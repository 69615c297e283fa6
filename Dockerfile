# Two images, both based on Debian, with clang. Neither needs a GPU.
#
# The complete one has the built course, for a lab or for grading:
#
#   docker build -t warpbook .
#   mkdir -p exercises
#   docker run -it --user "$(id -u):$(id -g)" -v "$PWD/exercises:/warpbook/exercises" warpbook
#
# Inside the container:  cargo run -p exercises
#
# The small one has the programs of a release, without Rust, for CI. Its context is the folder with the archive:
#
#   scripts/release --only archive
#   docker build -t warpbook-ci --target ci --file Dockerfile target/dist
#   docker run --rm -v "$PWD:/work" warpbook-ci cuda-run --check program.cu

FROM debian:bookworm-slim AS archive
ARG ARCHIVE=warpbook-*-linux-x86_64.tar.gz
ADD ${ARCHIVE} /archive/

FROM debian:bookworm-slim AS ci
RUN apt-get update -q \
    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends clang-14 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=archive /archive/*/ /usr/local/
# Any program that loads CUDA's driver finds the simulator, with and without cuda-run.
RUN ldconfig
WORKDIR /work

FROM rust:1.95-bookworm AS tools
COPY .devcontainer/packages /tmp/packages
RUN /tmp/packages && rm /tmp/packages

FROM tools
WORKDIR /warpbook
COPY . .
# Let any user write to the build outputs. As root, a user would leave files on the host that only root may edit.
RUN chmod a+w . && umask 0 && .devcontainer/ready
CMD ["bash"]
