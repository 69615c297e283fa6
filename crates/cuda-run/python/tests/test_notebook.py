"""The cell magic, in a real kernel of Jupyter."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

HERE = Path(__file__).parent
ADD = (HERE / "add.cu").read_text()
REVERSE = (HERE / "reverse.cu").read_text()
# A kernel that does not end.
SPIN = r"""#include <cstdio>
__global__ void spin(volatile int *p) { while (*p == 0) ; }
int main()
{
    int *p;
    cudaMalloc(&p, sizeof(int));
    cudaMemset(p, 0, sizeof(int));
    puts("started");
    fflush(stdout);
    spin<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
"""

pytestmark = [
    pytest.mark.needs_clang,
    # About the transport of Jupyter's messages, not about this package.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def run_cells(programs):
    """Returns a function that runs cells after loading the extension, and returns the outputs of each."""

    def run(*cells):
        sources = ["%load_ext warpbook", *cells]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        client = nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": "."}}
        )
        client.execute()
        assert notebook.cells[0].outputs == []
        return [cell.outputs for cell in notebook.cells[1:]]

    return run


@pytest.fixture(scope="module", autouse=True)
def kernel_of_this_environment(tmp_path_factory):
    """Installs the kernel of this Python, which may differ from the one of the user."""
    directory = tmp_path_factory.mktemp("jupyter")
    command = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(directory), "--name", "python3"]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(directory / "share" / "jupyter"))
        yield


def text(outputs):
    return "".join(output.text for output in outputs if output.output_type == "stream")


def error(outputs):
    return next((output.evalue for output in outputs if output.output_type == "error"), None)


def data(outputs, kind):
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def test_output_and_report_are_shown(run_cells):
    (outputs,) = run_cells(f"%%cuda -- 2\n{ADD}")
    assert "c[7] = 42\n" in text(outputs) and "stride 2\n" in text(outputs)
    assert "| add    |        1 |      4 |" in text(outputs)
    assert error(outputs) is None
    assert {output.name for output in outputs} == {"stdout"}


def test_findings_have_the_lines_of_the_cell(run_cells):
    first, second = run_cells(
        f"%%cuda --check --quiet --name tiles.cu\n{REVERSE}",
        f"%%cuda --check=race --quiet --no-raise-error --record race\n{REVERSE}",
    )
    # The line of the magic is line 1, so the lines of the file are shifted by one.
    assert "reads at tiles.cu:7" in text(first)
    assert error(first) == "tiles.cu:7: read-after-write data race (128 times) (and 1 more)"
    assert "reads at cell.cu:7" in text(second) and error(second) is None
    assert "/tmp" not in text(first) + text(second)


def test_errors_of_the_compiler_have_the_lines_of_the_cell(run_cells):
    (outputs,) = run_cells("%%cuda\nint main()\n{\n    return 0\n}\n")
    assert "cell.cu:4:13: error: expected ';'" in text(outputs)
    assert error(outputs).startswith("cell.cu:4: expected ';'")


def test_profile_shows_the_source(run_cells):
    (outputs,) = run_cells(f"%%cuda --profile=lines\n{ADD}")
    assert "    9          c[i] = a[i * stride] + b[i * stride];" in text(outputs)
    assert "| global load requests" in text(outputs)


def test_plot_is_shown(run_cells, programs):
    inline, named = run_cells(
        f"%%cuda --plot --quiet\n{ADD}", f"%%cuda --plot=figures.v1 --quiet --name other.cu\n{ADD}"
    )
    (image,) = data(inline, "image/svg+xml")
    assert image.startswith("<svg") and "/tmp" not in image and "The plot" not in text(inline)
    assert "other" in data(named, "image/svg+xml")[0]
    assert (programs / "figures.v1.svg").exists() and (programs / "figures.v1.png").exists()


def test_the_record_is_a_variable(run_cells):
    _, shown, printed = run_cells(
        f"%%cuda --quiet --record r -- 8\n{ADD}", "r", "print(r.program, r.kernel('add').sectors_per_load_request)"
    )
    assert "| `add`" in data(shown, "text/markdown")[0]
    assert text(printed) == "('cell.cu',) 32.0\n"


def test_exit_status_is_an_error(run_cells):
    (outputs,) = run_cells(f"%%cuda --quiet -- 1 3\n{ADD}")
    assert error(outputs) == "cell.cu: exit status 3"
    traceback = next(output.traceback for output in outputs if output.output_type == "error")
    assert traceback == ["CellError: cell.cu: exit status 3"]


def test_variables_and_local_headers_can_be_used(run_cells, programs):
    (programs / "value.h").write_text("#define VALUE 40\n")
    _, outputs = run_cells(
        "extra = 2",
        '%%cuda --quiet -DMORE={extra}\n#include <cstdio>\n#include "value.h"\n'
        'int main() { printf("%d\\n", VALUE + MORE); }\n',
    )
    assert text(outputs).endswith("42\n")


def test_launch_plans_can_be_used(run_cells):
    plan = '[[buffer]]\nname = "a"\ntype = "int"\ncount = 32\nprint = 3\n[[launch]]\nkernel = "fill"\ngrid = 1\n'
    plan += 'block = 32\narguments = ["a"]\n'
    kernel = "__global__ void fill(int *a) { a[threadIdx.x] = 5; }\n"
    (outputs,) = run_cells(f"%%cuda --quiet\n/* cuda-run\n{plan}*/\n{kernel}")
    assert "a: 5 5 5" in text(outputs), text(outputs)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--name", "--name requires a value"),
        ("--name x.txt", "--name x.txt must be the name of a file, such as x.cu"),
        ("--name a/x.cu", "--name a/x.cu must be the name of a file"),
        ("--record 2x", "--record 2x must be the name of a variable"),
        ("'--check", "No closing quotation"),
        ("--json", "--json is reserved: the magic writes and reads the record itself. Use --record VARIABLE"),
        ("--json=x.json", "--json is reserved"),
    ],
)
def test_invalid_lines_are_usage_errors(line, message):
    from IPython.core.error import UsageError

    from warpbook.notebook import Options

    with pytest.raises(UsageError, match=message):
        Options.parse(line)


def test_flags_of_the_magic_and_of_cuda_run_are_separated():
    from warpbook.notebook import Options

    options = Options.parse('--check=race --name=x.cu -DA="b c" --plot -O3 -- --name "d e" -- 5')
    assert (options.name, options.plot, options.plot_name) == ("x.cu", True, None)
    assert options.flags == ["--check=race", "-DA=b c", "-O3"]
    assert options.arguments == ["--name", "d e", "--", "5"]


def test_invalid_flags_are_reported_by_cuda_run(run_cells):
    (outputs,) = run_cells("%%cuda --nonsense\nint main() {}\n")
    assert "unexpected argument" in text(outputs)
    assert error(outputs) == "invalid flags: see warpbook run --help"


def test_an_interrupt_ends_the_program(programs):
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive("%load_ext warpbook", timeout=60)
        client.execute(f"%%cuda\n{SPIN}")
        output, interrupted = "", None
        while True:
            message = client.get_iopub_msg(timeout=60)
            output += message["content"].get("text", "")
            if "started" in output and interrupted is None:
                time.sleep(0.5)
                interrupted = time.monotonic()
                manager.interrupt_kernel()
            if message["msg_type"] == "error":
                break
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert message["content"]["ename"] == "KeyboardInterrupt" and time.monotonic() - interrupted < 10
    assert "in kernel spin" in output and "cell.cu:3" in output
