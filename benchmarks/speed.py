"""Speed: kernels against oracle, FastICA and the machine; start-up; latency; memory. Writes docs/speed.md."""

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from sklearn.decomposition import FastICA
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from benchmarks import machine
from boundsep import BSM, State, course, rules, schedules
from boundsep import guard as g
from boundsep.whitening import Fixed

PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
SIZES = {3: 100_000, 10: 100_000, 32: 100_000, 64: 50_000, 128: 20_000, 512: 4_000}  # samples of each record
ROUNDS = 7
ORACLE_SAMPLES = 300
MOST_FASTICA_SECONDS = 30.0


def uniform(n: int, d: int) -> np.ndarray:
    """Return white uniform sources."""
    return np.random.default_rng(d).uniform(-np.sqrt(3.0), np.sqrt(3.0), (n, d))


def settled(d: int, **options) -> State:
    """Return a network where it ends up: its inputs are its sources, its gains have risen, its clip rate is steady."""
    state = State.start(d, d, whiten=None, rates=schedules.paper(), **options)
    state.neurons.D[:] = 2.3
    state.neurons.W *= 0.66
    state.neurons.M *= 0.42
    if state.neurons.P.size:
        state.neurons.P /= 0.42
    state.learn(uniform(2000, d))
    return state


def oracle(state: State, X: np.ndarray) -> None:
    """Run the plain NumPy functions of ``rules`` over X, the inverse kept as the kernel keeps it."""
    W, M, D, P = (a.copy() for a in (state.neurons.W, state.neurons.M, state.neurons.D, state.neurons.P))
    forgetting, gain_step, gain_leak, _, _, _, lower, upper = state.rates
    for x in X:
        a = rules.drive(W, x)
        z = P @ a
        y = np.clip(z / D, lower, upper)
        if np.any(y * D != z):
            y, _ = rules.settle_descent(a, M, D, lower, upper)
        W = rules.update_W(W, x, y, forgetting)
        M = rules.update_M(M, y, forgetting)
        k = P @ y
        P = P / (1.0 - forgetting) - np.outer(k, k) * (
            forgetting / ((1.0 - forgetting) * (1.0 - forgetting + forgetting * (y @ k)))
        )
        D = rules.update_D(W, M, D, gain_step, gain_leak)


def seconds(function, *arguments) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def measure_kernels(progress: Progress) -> list[str]:
    """Return rows: samples a second, us a sample, and ratios measured side by side."""
    task = progress.add_task("kernels", total=len(SIZES))
    rows = []
    flops = machine.flops_a_second()
    for d, n in SIZES.items():
        X = uniform(n, d)
        states = {"default": settled(d), "sweeps": settled(d), "euler": settled(d, euler=True)}
        states["sweeps"].neurons.P = np.zeros((0, 0))
        part = {"default": n, "sweeps": n // 4, "euler": max(200, n // 40)}
        few = min(ORACLE_SAMPLES, n // 8)
        ica = FastICA(whiten=False, fun="cube", random_state=0, max_iter=200)
        took: dict[str, list[float]] = {name: [] for name in (*states, "oracle", "ica")}
        for _ in range(ROUNDS):
            for name, state in states.items():
                took[name].append(seconds(state.learn, X[: part[name]]) / part[name])
            took["oracle"].append(seconds(oracle, states["default"], X[:few]) / few)
            if not took["ica"] or sum(took["ica"]) * n < MOST_FASTICA_SECONDS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    took["ica"].append(seconds(ica.fit, X) / n)
        us = {name: 1e6 * float(np.median(times)) for name, times in took.items()}
        counts = states["default"].neurons.guard
        sweeps = counts[g.SWEEPS] / counts[g.HEARD]
        changes = sweeps * counts[g.CLIPPED] / counts[g.HEARD]
        bound = 1e6 * machine.least_time_a_sample(d, changes, flops)
        ended = f"{us['ica'] / us['default']:.1f}" + ("" if ica.n_iter_ < 200 else " *")
        rows.append(
            f"| {d} | {1e6 / us['default']:,.0f} | {us['default']:.3g} | {us['sweeps']:.3g} | {us['euler']:.3g} "
            f"| {us['oracle'] / us['default']:.0f} | {ended} | {100 * bound / us['default']:.0f} % "
            f"| {sweeps:.1f} | {100 * counts[g.CLIPPED] / counts[g.HEARD] / d:.1f} % |"
        )
        progress.advance(task)
    return rows


def measure_stages(progress: Progress) -> list[str]:
    """Return rows: us a sample of stage two beside stage one, and the default as a whole beside constant steps."""
    whole = {3: 100_000, 10: 100_000, 32: 100_000, 64: 100_000, 128: 50_000}
    task = progress.add_task("stages", total=len(whole))
    rows = []
    for d, n in whole.items():
        X = uniform(n, d)
        one, two = settled(d), State.start(d, d, whiten=None)
        two.course.enter(course.SHARPENING)  # its inputs are its sources: begun where stage one would end
        two._enter(course.SEPARATING)
        two.learn(X[: n // 4])
        part = X[n // 4 : n // 2]
        took: dict[str, list[float]] = {"one": [], "two": [], "auto": [], "constant": []}
        for _ in range(ROUNDS):
            took["one"].append(seconds(one.learn, part) / len(part))
            took["two"].append(seconds(two.learn, part) / len(part))
        for _ in range(3):
            tuned = State.start(d, d)
            took["auto"].append(seconds(tuned.learn, X) / n)
            took["constant"].append(seconds(State.start(d, d, rates=schedules.paper()).learn, X) / n)
        us = {name: 1e6 * float(np.median(times)) for name, times in took.items()}
        ended = f"{tuned.course.took:,}" if tuned.course.separated else "not by then"
        rows.append(
            f"| {d} | {us['one']:.3g} | {us['two']:.3g} | {us['two'] / us['one']:.2f} | {n:,} | {ended} "
            f"| {us['auto']:.3g} | {us['constant']:.3g} | {us['auto'] / us['constant']:.2f} |"
        )
        progress.advance(task)
    return rows


START = {
    "nothing but Python and NumPy": "pass",
    "import numba": "import numba",
    "import scikit-learn": "import sklearn.base, sklearn.utils.validation",
    "State, white input": "from boundsep import State; State.start(10, 10, whiten=None).learn(X)",
    "State, whitening online": "from boundsep import State; State.start(10, 10).learn(X)",
    "BSM().fit": "from boundsep import BSM; BSM().fit(X)",
}


def seconds_to_result(code: str, cache: Path) -> float:
    """Return the time from the start of a process to its result; what it takes to leave is not counted."""
    script = (
        "import warnings, numpy, time; warnings.simplefilter('ignore');"
        f"X = numpy.random.default_rng(0).uniform(-1.7, 1.7, (100, 10)); {code}; print(time.time())"
    )
    cache.mkdir(exist_ok=True)
    environment = {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
    began = time.time()
    shown = subprocess.run([sys.executable, "-c", script], check=True, env=environment, capture_output=True)
    return float(shown.stdout) - began


def measure_start(progress: Progress) -> list[str]:
    """Return rows: seconds from the start of a process to its result, with a warm and with an empty cache."""
    rounds = 5
    task = progress.add_task("start-up", total=rounds * len(START))
    took: dict[str, dict[str, list[float]]] = {name: {"warm": [], "cold": []} for name in START}
    with tempfile.TemporaryDirectory() as folder:
        for code in START.values():
            seconds_to_result(code, Path(folder) / "warm")
        for turn in range(rounds):
            for number, (name, code) in enumerate(START.items()):
                took[name]["warm"].append(seconds_to_result(code, Path(folder) / "warm"))
                took[name]["cold"].append(seconds_to_result(code, Path(folder) / f"cold-{number}-{turn}"))
                progress.advance(task)
    return [
        f"| {name} | {np.median(times['warm']):.2f} | {np.median(times['cold']):.2f} |" for name, times in took.items()
    ]


def latency(function, X: np.ndarray) -> tuple[float, float]:
    """Return median and 99th percentile of one call a sample, in us, less what the clock itself takes."""
    samples = [x[None].copy() for x in X]
    for x in samples[:500]:
        function(x)
    spent, empty = [], []
    for x in samples:
        began = time.perf_counter_ns()
        function(x)
        ended = time.perf_counter_ns()
        spent.append(ended - began)
        empty.append(time.perf_counter_ns() - ended)
    clock = np.median(empty)
    return (np.median(spent) - clock) / 1e3, (np.percentile(spent, 99) - clock) / 1e3


def measure_latency(progress: Progress) -> list[str]:
    """Return rows: us for one sample in one call, ten sources."""
    X = uniform(20_000, 10)
    ways = {}
    exact = Fixed.exact(np.full(10, 0.1), np.eye(10) * 1.1, 10)
    for name, whiten in (("white input", None), ("exact", exact), ("online", "online"), ("neural", "neural")):
        state = State.start(10, 10, whiten=whiten, rates=schedules.paper())
        state.learn(X)
        ways[f"`State.learn`, {name}"] = state.learn
    bsm = BSM(whiten=None).partial_fit(X)
    ways["`BSM.partial_fit_transform`, white input"] = bsm.partial_fit_transform
    ways["scikit-learn's `validate_data` alone"] = lambda x: validate_data(
        bsm, x, reset=False, dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    task = progress.add_task("latency", total=len(ways))
    rows = []
    for name, function in ways.items():
        middle, high = latency(function, X)
        rows.append(f"| {name} | {middle:.1f} | {high:.1f} |")
        progress.advance(task)
    return rows


def measure_memory(progress: Progress) -> list[str]:
    """Return rows: peak memory of a process that streams so many samples of ten channels."""
    lengths = (100_000, 1_000_000, 10_000_000)
    task = progress.add_task("memory", total=len(lengths))
    rows = []
    for n in lengths:
        script = (
            "import numpy; from boundsep import State; state = State.start(10, 10);"
            "rng = numpy.random.default_rng(0);"
            f"\nfor _ in range({n} // 10_000): state.learn(rng.uniform(-1.0, 1.0, (10_000, 10)))"
            "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
        )
        shown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        rows.append(f"| {n:,} | {int(shown.stdout) / 1024:.0f} MiB |")
        progress.advance(task)
    return rows


def main() -> None:
    """Measure all and write the page."""
    with threadpool_limits(1), Progress(console=Console(stderr=True)) as progress:
        kernels, stages, start = measure_kernels(progress), measure_stages(progress), measure_start(progress)
        delays, memory = measure_latency(progress), measure_memory(progress)
    lines = [
        "# Speed",
        "",
        "Measured by `make bench`. Times are this machine's, and it is noisy: compare within a table. Ratios are of",
        "runs taken in turn in one process, the first call left out; all figures are medians.",
        "",
        f"{machine.describe()}.",
        "",
        "## One pass of the network",
        "",
        "Uniform sources, white input, the paper's constants, the network where it ends up. *Oracle*: the plain NumPy",
        "functions of `rules.py`. *FastICA*: scikit-learn's, cubic score, the same record, no whitening,",
        "to its default tolerance (* where 200 iterations did not reach it). *Of the bound*: the least time that flops",
        "and bytes of the algorithm take at this machine's measured peaks (`benchmarks/machine.py`), over the time",
        "taken.",
        "",
        "| d | samples/s | us/sample | by sweeps | by Euler | oracle takes, times | FastICA takes, times "
        "| of the bound | sweeps | clipped |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *kernels,
        "",
        "## Stage two, and the default as a whole",
        "",
        "Stage two at rest beside stage one at rest, white input; and a stream of uniform sources whitened online, by",
        "the default (stage one until it has separated, then stage two) beside the paper's constant steps. us a",
        "sample; *times* are ratios.",
        "",
        "| d | stage one | stage two | times | samples | stage one ends | default | constant | times |",
        "|---|---|---|---|---|---|---|---|---|",
        *stages,
        "",
        "## From nothing to a first result",
        "",
        "Seconds from the start of a process to its result, 100 samples of ten channels. Cold: nothing compiled yet,",
        "as once after an install.",
        "",
        "| | warm | cold |",
        "|---|---|---|",
        *start,
        "",
        "## One sample a call",
        "",
        "Ten channels, us. `State.learn` is the path without validation.",
        "",
        "| | median | 99th percentile |",
        "|---|---|---|",
        *delays,
        "",
        "## Memory of a stream",
        "",
        "Peak of a whole process that whitens online and separates ten channels, in chunks of 10,000 samples.",
        "",
        "| samples | peak |",
        "|---|---|",
        *memory,
        "",
    ]
    PAGE.write_text("\n".join(lines))
    Console().print("\n".join(lines), markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
