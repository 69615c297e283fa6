"""Times the chapters' kernels, ported to OpenCL C, on PoCL, for scripts/speed: see engine.py.

The environment variable POCL_MAX_PTHREAD_COUNT sets the number of threads.
"""

import pathlib
import warnings

import engine
from engine import numpy

cl = engine.require("pyopencl")


def main():
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # no platform at all
        platforms = []
    pocl = [platform for platform in platforms if platform.name == "Portable Computing Language"]
    if not pocl:
        engine.missing("PoCL is not among the OpenCL platforms")
    context = cl.Context(pocl[0].get_devices(cl.device_type.CPU)[:1])
    source = pathlib.Path(__file__).with_name("kernels.cl").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's warnings are irrelevant here
        program = cl.Program(context, source).build()
    version = " ".join(pocl[0].version.split()[2:4])
    engine.serve(version, lambda folder, work: Launch(context, program, folder, work))


class Launch:
    def __init__(self, context, program, folder, work):
        self.context, self.queue = context, cl.CommandQueue(context)
        self.kernel = cl.Kernel(program, work["kernel"])
        self.local_size = work["block"]
        self.global_size = [blocks * threads for blocks, threads in zip(work["grid"], self.local_size)]
        # OpenCL kernels do not keep their buffers alive.
        self.arguments = [self.argument(folder, argument) for argument in work["arguments"]]
        self.kernel.set_args(*self.arguments)

    def argument(self, folder, argument):
        if "word" in argument:
            return numpy.uint32(argument["word"])
        if "long" in argument:
            return numpy.uint64(argument["long"])
        if "input" in argument:
            return self.buffer(numpy.fromfile(folder / argument["input"], numpy.uint32))
        self.words = argument["output"]
        self.result = self.buffer(numpy.full(self.words, engine.POISON, numpy.uint32))
        return self.result

    def buffer(self, array):
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.context, flags, hostbuf=array)

    def run(self):
        cl.enqueue_nd_range_kernel(self.queue, self.kernel, self.global_size, self.local_size)
        self.queue.finish()

    def output(self):
        output = numpy.empty(self.words, numpy.uint32)
        cl.enqueue_copy(self.queue, output, self.result)
        return output


main()
