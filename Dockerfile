# An image with the built course, for a lab or for grading: Rust's official image, based on Debian, with clang. Needs
# no GPU.
#
#   docker build -t warpbook .
#   mkdir -p exercises
#   docker run -it --user "$(id -u):$(id -g)" -v "$PWD/exercises:/warpbook/exercises" warpbook
#
# Inside the container:  cargo run -p exercises

FROM rust:1.95-bookworm AS tools
COPY .devcontainer/packages /tmp/packages
RUN /tmp/packages && rm /tmp/packages

FROM tools
WORKDIR /warpbook
COPY . .
# Let any user write to the build outputs. As root, a user would leave files on the host that only root may edit.
RUN chmod a+w . && umask 0 && .devcontainer/ready
CMD ["bash"]
