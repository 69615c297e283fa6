"""Debian's FFmpeg: its CUDA filters, each compared with the same filter for the CPU, or with the results of a GPU."""

import dataclasses
import hashlib
import shutil
import subprocess
import time

from .install import Missing
from .programs import Program, ended, reason

# Debian 12's version. The script uses the installed one.
VERSION = "5.1"

SOURCE = ["-f", "lavfi", "-i", "testsrc2=size=320x192:rate=5:duration=1"]
QUIET = ["-hide_banner", "-nostdin", "-loglevel", "error", "-y"]
DEVICE = ["-init_hw_device", "cuda=gpu", "-filter_hw_device", "gpu"]


@dataclasses.dataclass
class Comparison:
    """Filters on the GPU and on the CPU, and the difference that is allowed between their results."""

    on_gpu: str  # between upload and download
    on_cpu: str
    format: str = "yuv420p"
    result: str = ""  # format of the result, if another one
    levels: int = 0  # allowed difference of a sample, in levels of its 8 bits
    share: float = 0.0  # share of the samples, in percent, that may differ more
    on_h200: str = ""  # SHA-256 of an H200's result, if no filter for the CPU computes the same


# The filters of the GPU interpolate with weights of 8 bits. yadif differs at the left and right edges, and where several
# directions have equal scores.
COMPARISONS = {
    "upload": Comparison("null", "null"),
    "upload nv12": Comparison("null", "null", "nv12"),
    "upload yuv444p": Comparison("null", "null", "yuv444p"),
    "upload p010": Comparison("null", "null", "p010le"),
    "scale nearest": Comparison("scale_cuda=160:96:interp_algo=nearest", "scale=160:96:flags=neighbor"),
    "scale nearest up": Comparison("scale_cuda=640:384:interp_algo=nearest", "scale=640:384:flags=neighbor"),
    "scale nearest nv12": Comparison(
        "scale_cuda=160:96:interp_algo=nearest", "scale=160:96:flags=neighbor", "nv12"
    ),
    "scale nearest yuv444p": Comparison(
        "scale_cuda=640:384:interp_algo=nearest", "scale=640:384:flags=neighbor", "yuv444p"
    ),
    "scale bilinear": Comparison(
        "scale_cuda=640:384:interp_algo=bilinear", "scale=640:384:flags=bilinear", "yuv444p", levels=2, share=0.5
    ),
    "scale bicubic": Comparison(
        "scale_cuda=640:384:interp_algo=bicubic",
        "scale=640:384:flags=bicubic:param0=0:param1=0.6",
        "yuv444p",
        levels=3,
        share=0.5,
    ),
    "convert to nv12": Comparison("scale_cuda=format=nv12", "format=nv12", result="nv12"),
    "deinterlace": Comparison("yadif_cuda", "yadif", levels=2, share=0.5),
    "deinterlace fields": Comparison("yadif_cuda=send_field", "yadif=send_field", levels=2, share=0.5),
    "thumbnail": Comparison("thumbnail_cuda=5", "thumbnail=5"),
    # The kernels of Debian's FFmpeg 5.1.9 on an H200 with driver 580.159.04, 2026-11-29.
    "chromakey": Comparison(
        "chromakey_cuda=0x00546B:0.3:0.1:yuv=1",
        "",
        result="yuva420p",
        on_h200="8ecc5e36ad8e3653bc1b2d9b9adfb4a73b48876b44732d81ed7d7806a6f43d75",
    ),
    "chromakey nv12": Comparison(
        "chromakey_cuda=0x002C15:0.2:0.3:yuv=1",
        "",
        "nv12",
        result="yuva420p",
        on_h200="5502b80f50a3ead07a633dad6d210a577907750d61189eb3eb23755bd2f88389",
    ),
}


def install(flags):
    """Creates a folder for the results; FFmpeg comes from Debian."""
    if not shutil.which("ffmpeg"):
        raise Missing("apt-get install ffmpeg")
    folder = flags.folder / f"ffmpeg-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclasses.dataclass
class Suite:
    """The comparisons."""

    name: str
    ci: bool
    known: dict

    @staticmethod
    def key(test):
        """Returns the key of a test in `known`."""
        return test

    def run(self, flags, folder):
        start = time.monotonic()
        failed = []
        for name, comparison in COMPARISONS.items():
            if why := difference(flags, folder, comparison):
                failed.append({"test": name, "why": why})
        return {
            "command": "cuda-run -- ffmpeg … -vf hwupload_cuda,FILTER,hwdownload",
            "seconds": round(time.monotonic() - start),
            "left out": {},
            "passed": len(COMPARISONS) - len(failed),
            "skipped": 0,
            "failed": failed,
        }


def difference(flags, folder, comparison):
    """Runs both filters. Returns a message if one fails or the results differ by more than is allowed."""
    result = comparison.result or comparison.format
    on_gpu = f"format={comparison.format},hwupload_cuda,{comparison.on_gpu},hwdownload,format={result}"
    on_gpu = on_gpu.replace("null,", "")
    on_cpu = f"format={comparison.format},{comparison.on_cpu},format={result}"
    outputs = [folder / "gpu.raw", folder / "cpu.raw"]
    for output in outputs:
        output.unlink(missing_ok=True)
    command = ["ffmpeg", *QUIET, *DEVICE, *SOURCE, "-vf", on_gpu, "-f", "rawvideo", outputs[0]]
    status, output, _ = ended(flags, Program("", command, folder))
    # FFmpeg exits with status 0 after some errors of filters.
    if status or "failed" in output:
        return reason(status, output)
    if comparison.on_h200:
        digest = hashlib.sha256(outputs[0].read_bytes()).hexdigest()
        return "" if digest == comparison.on_h200 else "the result differs from an H200's"
    command = ["ffmpeg", *QUIET, *SOURCE, "-vf", on_cpu, "-f", "rawvideo", outputs[1]]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
    actual, expected = (output.read_bytes() for output in outputs)
    if len(actual) != len(expected):
        return f"{len(actual):,} bytes instead of {len(expected):,}"
    differences = [abs(a - b) for a, b in zip(actual, expected)]
    above = sum(value > comparison.levels for value in differences) / len(differences) * 100
    if above > comparison.share:
        largest = max(differences)
        return f"{above:.3f} % of the samples differ by more than {comparison.levels} levels, at most by {largest}"
    return ""
