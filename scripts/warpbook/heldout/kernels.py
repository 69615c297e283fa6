"""The launches: drawn from families by a seed, written to files and compiled."""

import json

from .. import ROOT, programs
from . import access, flow, together
from .draw import Draw

FAMILIES = [*access.FAMILIES, *together.FAMILIES, *flow.FAMILIES]

# The flags for the chapters' kernels, for GPUs that support all instructions that these kernels use.
CLANG = [
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nostdlibinc",
    "--target=x86_64-unknown-linux-gnu", "--cuda-path=kernels", "-Ikernels", "-Wall",
    "--cuda-gpu-arch=sm_70", "-Xclang", "-target-feature", "-Xclang", "+ptx64", "-O3",
    "-gline-directives-only", "-fdebug-compilation-dir=.", "-S",
]  # fmt: skip


def drawn(seed, count):
    """Draws `count` launches with different names, from each family in turn."""
    launches = {}
    turn = 0
    while len(launches) < count:
        family = FAMILIES[turn % len(FAMILIES)]
        launch = family(Draw(seed, turn))
        launches.setdefault(launch.label, (family.__name__, launch))
        turn += 1
    return list(launches.values())


def write(folder, clang, seed, count):
    """Writes the launches' sources, PTX and plan into a folder, and returns the plan's path."""
    families = {}
    for family, launch in drawn(seed, count):
        families.setdefault(family, []).append(launch)
    planned = []
    for family, launches in families.items():
        source, ptx = folder / f"{family}.cu", folder / f"{family}.ptx"
        text = '#include "cuda_device.h"\n\n'
        defined = set()
        for number, launch in enumerate(launches):
            before = "" if launch.before in defined else launch.before
            if not before.startswith("#"):
                defined.add(launch.before)
            launch.before = before
            kernel = f"{family}_{number}"
            text += f"// {launch.label}\n{launch.source(kernel)}\n"
            planned.append(launch.planned(kernel, ptx.name))
        source.write_text(text, encoding="utf-8")
        programs.output([clang, *CLANG, "-o", str(ptx), str(source)], cwd=ROOT)
    plan = folder / "plan.json"
    plan.write_text(json.dumps(planned, indent=1) + "\n", encoding="utf-8")
    return plan
