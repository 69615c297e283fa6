"""Tests of the verdicts on programs' output, and of how programs are found: `python3 -m unittest
warpbook.public.check_verdicts`, in scripts/."""

import pathlib
import subprocess
import tempfile
import unittest

from . import pages, runs, sizes, sources, verdict

CORRECT = (
    "PASS",
    "Test assert completed, returned OK",
    "Verification: 0 errors",
    "mismatches: 0",
    "max error = 1.2e-07",
    "Maximum relative error: 0.000000",
    "Results are correct",
    "Non-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 0",
    "Number of misses: 0",
    "[max_error: 0.000001][error_cnt: 0]",
    "Avg. diff: 1.5E-06",
    "error (Euclidean norm): 1.0e-09",
    "Launch kernel to generate assertion failures\nDevice assert failed as expected\nOK",
)
WRONG = (
    "FAIL",
    "Test failed!",
    "PASS\nFAIL",
    "5 mismatches",
    "mismatches: 5",
    "results do not match",
    "max error = 0.7",
    "max error = nan",
    "Non-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 12",
    "Number of misses: 3",
    "[NOT PASSED] checking keys: #err = 7",
    "Verification checksum: 12 (WARNING - INVALID CHECKSUM!)",
    "error at i=3  length=12",
)
NO_VERDICT = (
    "",
    "Average kernel execution time: 12 (us)",
    "Total device execution time: 16.17 s",
    "Average kernel execution time (n_diff = 1): 0.02 (s)",
    "Successfully opened input file",
    "Launch kernel to generate assertion failures",
    "checksum = 12345",
    "Checking for mismatches",
)


class Verdicts(unittest.TestCase):
    def test_output_yields_the_verdict_it_states(self):
        for expected, texts in (("correct", CORRECT), ("wrong", WRONG), (None, NO_VERDICT)):
            for text in texts:
                self.assertEqual(verdict.verdict(text)[0], expected, text)


class Endings(unittest.TestCase):
    def result(self, out, err="", status=0, expected=None):
        return verdict.judged(subprocess.CompletedProcess([], status, out, err), expected)["result"]

    def test_a_kernel_fault_is_an_error_even_if_the_program_ignores_it(self):
        note = "warpbook: no NVIDIA GPU (libcuda.so.1 not found); running on the built-in simulator"
        fault = "warpbook: illegal address: read of 4 bytes"
        self.assertEqual(self.result("time: 3 s", note), verdict.SILENT)
        self.assertEqual(self.result("time: 3 s", fault), verdict.ENDED_WITH_ERROR)
        for fault in (fault, "warpbook: a.cu:3: void k(): block: [1,0,0], thread: [2,0,0] Assertion `n` failed."):
            self.assertEqual(self.result("Device assert failed as expected\nOK", fault), verdict.CORRECT_BY_ITSELF)

    def test_exit_status_and_compile_errors_are_reported(self):
        self.assertEqual(self.result("PASS", status=1), verdict.ENDED_WITH_ERROR)
        self.assertEqual(self.result("", "error: main.cu does not compile", 1), "does not compile")

    def test_the_reason_for_an_error_is_the_programs_own_message(self):
        simulator = "simulator: models an NVIDIA H200\n{}\nThe program did not launch any kernels."
        gpu = (
            "GPU: NVIDIA H200\n{}\nUse --profile to time the kernels on this GPU, or Nsight Systems from the CUDA "
            "Toolkit:\n\nnsys profile --stats=true cuda-run main.cu"
        )
        ended = "the program was killed by signal 6 (SIGABRT: it called abort)"
        for summary in (simulator, gpu):
            for out, err, why in (
                ("Loading\nunable to read a.dat", "", "unable to read a.dat"),
                ("Invalid infile.\nUsage: main infile", "", "Invalid infile."),
                ("", f"a.h:3: Assertion `f != NULL' failed.\n\n{ended}", "a.h:3: Assertion `f != NULL' failed."),
                ("an error\nunable", "", "an error"),
                ("Usage: main", "", "Usage: main"),
                ("", ended, ended),
            ):
                done = subprocess.CompletedProcess([], 1, out, summary.format(err))
                self.assertEqual(verdict.judged(done, None)["why"], why)

    def test_ignored_failures_of_calls_are_no_verdict(self):
        listed = "Failed calls: 1.\n\nerror: api: cudaFree failed\n  at a.cu:3\n\nA failed call does nothing: check it."
        self.assertEqual(self.result("sum 12", listed), verdict.SILENT)

    def test_output_is_compared_with_the_numbers_of_a_gpu(self):
        expected = verdict.numbers("time: 3 s\nsum 12 at 0.25001")
        self.assertEqual(expected, ["12", "0.25001"])
        for out, result in (
            ("sum 12 at 0.25002", verdict.AS_ON_GPU),
            ("sum 12 at 0.2521", verdict.SILENT),
            ("sum 13 at 0.25001", verdict.SILENT),
            ("sum 12", verdict.SILENT),
        ):
            self.assertEqual(self.result(out, expected=expected), result, out)


class Sources(unittest.TestCase):
    def found(self, files):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            for name, text in files.items():
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                (top / name).write_text(text)
            return {program.name: (program.files, program.flags, program.uses()) for program in sources.programs(top)}

    def test_a_folder_with_one_main_is_one_program(self):
        files = {
            "a/main.cpp": "#include <cublas_v2.h>\nint main(int argc, char **argv) {}",
            "a/kernel.cu": "__global__ void k() {}",
            "a/included.cu": "",
            "a/other.cu": '#include "included.cu"\n// int main() {}',
            "a/Makefile": "nvcc -std=c++14 -dc -DSIZE=3 -DNDEBUG",
        }
        flags = ["-rdc=true", "-std=c++14", "-DSIZE=3"]
        self.assertEqual(self.found(files), {"a": (["main.cpp", "kernel.cu", "other.cu"], flags, "cuBLAS")})

    def test_with_several_mains_each_is_a_program_with_the_sources_of_its_headers(self):
        main = "int main() { k<<<1, 1>>>(); }"
        files = {"x.cu": f'#include "util.h"\n{main}', "y.cu": main, "util.cu": "", "host.cpp": "int main() {}"}
        expected = {"x.cu": (["x.cu", "util.cu"], [], None), "y.cu": (["y.cu"], [], None)}
        self.assertEqual(self.found(files), expected)


class Sizes(unittest.TestCase):
    def test_repetitions_are_named_by_the_usage_or_come_last(self):
        usage = 'printf("Usage: %s <repeat> <number of points>\\n", argv[0]);'
        self.assertEqual(sizes.smaller(["100", "65536"], usage)[0], ["1", "128"])
        usage = "Usage: %s <compute iterations> <repeat>\\n"
        self.assertEqual(sizes.smaller(["8192", "1000"], usage)[0], ["64", "1"])
        self.assertEqual(sizes.smaller(["65536", "100"], "")[0], ["128", "1"])
        self.assertEqual(sizes.smaller(["-n", "65536", "-repeat", "100"], "")[0], ["-n", "128", "-repeat", "1"])

    def test_optional_verification_is_enabled(self):
        usage = "Usage: %s <#samples> <verify> <repeat>\\n"
        self.assertEqual(sizes.smaller(["65536", "0", "100"], usage)[0], ["128", "1", "1"])

    def test_small_numbers_are_unchanged(self):
        self.assertEqual(sizes.smaller(["3", "64", "100"], ""), [["3", "64", "1"]])
        self.assertEqual(sizes.smaller(["input.txt"], ""), [])

    def test_values_of_variables_and_macros_are_changed_in_a_copy(self):
        text = "#define N 4096\nconst int M = 1 << 20, NM = 7;\nint main() { for (M = 0; M == 3;) k<<<N, M>>>(); }\n"
        changed = "#define N 16\nconst int M = 8, NM = 7;\nint main() { for (M = 0; M == 3;) k<<<N, M>>>(); }\n"
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as copies:
            (pathlib.Path(folder) / "a.cu").write_text(text)
            found = next(sources.programs(pathlib.Path(folder)))
            found.smaller = {"N": "16", "M": "8", "K": "1"}
            first, own = sizes.attempts(found)
            self.assertEqual((str(first), first.size, str(own), own.size), ("N=16 M=8", "smaller", "", "own"))
            (copy,), flags = first.files(found, pathlib.Path(copies))
            self.assertEqual((copy.read_text(), flags), (changed, [f"-I{folder}"]))
            self.assertEqual(own.files(found, pathlib.Path(copies)), (["a.cu"], []))


class Pages(unittest.TestCase):
    def record(self, program, result, nvcc=verdict.SILENT):
        one = {"collection": "csc-training", "program": program, "result": result, "size": "own", "nvcc": nvcc}
        return one | {"date": "2026-11-29", "on": "simulator"}

    def test_own_mistakes_and_failures_with_nvcc_do_not_count(self):
        records = [
            self.record("a", verdict.CORRECT_BY_ITSELF),
            self.record("b", verdict.REPORTED_WRONG),
            self.record("c", verdict.ENDED_WITH_ERROR, nvcc=verdict.ENDED_WITH_ERROR),
            self.record("d", runs.TOO_LONG, nvcc=runs.TOO_LONG),
            self.record("e", verdict.ENDED_WITH_ERROR, nvcc=runs.TOO_LONG),
            self.record("exercises/debug-cuda-memcheck", verdict.ENDED_WITH_ERROR),
        ]
        parts = pages.parts(records)
        row = parts["source collections"].splitlines()[-1]
        self.assertEqual([cell.strip() for cell in row.strip("|").split("|")], ["all", "6", "1", "", "", "", "1", "1", "", "", "1", "2", "33 %"])
        listed = [line.split("|")[2].strip() for line in parts["source failures"].splitlines()[2:]]
        self.assertEqual(listed, ["`b`", "`e`", "`exercises/debug-cuda-memcheck`"])


if __name__ == "__main__":
    unittest.main()
