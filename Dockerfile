# The course, built, for a lab or for grading: Debian with its clang, and Rust's own image. No GPU is needed.
#
#   docker build -t warpbook .
#   mkdir -p exercises
#   docker run -it --user "$(id -u):$(id -g)" -v "$PWD/exercises:/warpbook/exercises" warpbook
#
# In it:  cargo run -p exercises

FROM rust:1.95-bookworm AS tools
COPY .devcontainer/packages /tmp/packages
RUN /tmp/packages && rm /tmp/packages

FROM tools
WORKDIR /warpbook
COPY . .
# What is built can be built on by any user: one who is root in here leaves files on the host that only root may edit.
RUN chmod a+w . && umask 0 && .devcontainer/ready
CMD ["bash"]
