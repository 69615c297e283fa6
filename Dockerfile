# The course, built, for a lab or for grading: Debian with its clang, and Rust's own image. No GPU is needed.
#
#   docker build -t warpbook .
#   docker run -it -v "$PWD/exercises:/warpbook/exercises" warpbook
#
# In it:  cargo run -p exercises

FROM rust:1.95-bookworm AS tools
COPY .devcontainer/packages /tmp/packages
RUN /tmp/packages && rm /tmp/packages

FROM tools
WORKDIR /warpbook
COPY . .
RUN .devcontainer/ready
CMD ["bash"]
