"""Run the command line: ``dpstats fit | by | logit | poisson | iv | describe | plan | ...``.

A call is checked completely before any budget is spent; an error is one line on stderr, with
exit code 2. Nothing is computed here that Python does not offer too.
"""

import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress

from dpstats.cli.commands import parser
from dpstats.cli.study_plans import is_study
from dpstats.errors import DPStatsError, InternalError

# The package's messages name Python arguments; on a command line they are options.
_WORDING = (
    (r"""\bbounds=\{(['"])(.+?)\1: \(low, high\)\}""", r"--bounds '\2=low,high'"),
    (r"""\blevels=\{(['"])(.+?)\1: \[\.\.\.\]\}""", r"--levels '\2=a,b,...'"),
    (r"""\btypes=\{(['"])(.+?)\1: (['"])(\w+)\3\}""", r"--types '\2=\4'"),
    (r"""\b(bounds|levels|types)\[(['"])(.+?)\2\]""", r"--\1 \3"),
    (r"""\bmethod=["'](\w+)["']""", r"--method \1"),
    (r"""\bcov_type=["'](\w+)["']""", r"--option cov_type=\1"),
    (r"dp_(?:ols|logit|poisson|iv) has no argument (\w+)=", r"there is no --option \1="),
    (r"in groups=\[\.\.\.\] or levels=", "in --groups or --levels"),
    (
        r"groups= lists the labels of a group column; name it with by=",
        "--groups lists the labels of a group column; name it with --by",
    ),
    (r"\bdp_describe\b", "dpstats describe"),
    (r"write dp_ols\((.+), data\)", r"write the file first and then \1"),
    (r'dpstats\.Ledger\(path, analyst="\.\.\."\) or ', ""),
    (r"\b(bounds|neighbors|levels|types|select|k|term|composition)=", r"--\1 "),
    (r"\bstatistics (names|to be)\b", r"--statistics \1"),
    (r"\bquantiles=\((.+?), (.+?)\)", r"--quantiles \1,\2"),
    (r"\bset_aside\b=?", "--set-aside "),
    (r"\btarget_width=?", "--target-width"),
    (r"\bx_sd\b", "--x-sd"),
    (r"\bx_range\b", "--x-range"),
    (r"\bweights_mean\b", "--weights-mean"),
    (r"\btrim_weights\b", "--trim-weights"),
    (r"\b(weights|subset|unit|cluster|offset|exposure)=", r"--\1 "),
    (r"\bclusters=", "--clusters"),
    (r"\bmax_rows\b", "--max-rows"),
    (r"\bmax_groups\b", "--max-groups"),
    (r"\brows_per_person=?", "--rows-per-person"),
    (r"\bselect_share\b", "--select-share"),
    (r"\bcompanion_share\b", "--companion-share"),
    (r"\bcompanion=", "--companion "),
    (r"\bx_new\b", "--x-new"),
    (r"\brow_norm\b", "--row-norm"),
    (r" or a Categorical column \(in polars an Enum\)", ""),
    (r"make one with dpstats\.Ledger\.create", "make one with `dpstats ledger create`"),
    (r"--eps: give epsilon=", "did you mean --epsilon?"),
    (r"; --verbose: give progress=True", ""),
    (r"give a mapping or a data frame with it", "add it with --x-new"),
    (r"(--[a-z-]+) ([,;?]|$)", r"\1\2"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; by default those of the process.

    Returns
    -------
    int
        0 when it worked, 2 for a call that cannot be served, 130 after Ctrl-C and 1 for a
        defect of this package.

    Examples
    --------
    >>> main(["--version"])
    dpstats 0.2.0
    0
    """
    given = _joined(sys.argv[1:] if argv is None else argv)
    try:
        arguments = parser().parse_args(given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments.run(arguments)
        sys.stdout.flush()
        return 0
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)
    except KeyboardInterrupt as error:
        said = str(error) or "interrupted"
        if any(text.partition("=")[0] == "--ledger" for text in given):
            place = said.partition(";")[0]
            said = f"{place}; what `dpstats ledger show` lists as reserved is spent"
        return _fail(said, 130)
    except BrokenPipeError:
        # After `dpstats ... | head` nothing reads stdout, and closing it must not raise.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except InternalError as error:
        return _fail(str(error), 1)
    except DPStatsError as error:
        return _fail(str(error) if _reads_study(given) else _in_options(str(error)), 2)
    except OSError as error:
        place = "standard output" if error.filename is None else error.filename
        return _fail(f"{place}: {error.strerror}", 2)
    except Exception as error:  # a traceback could quote the data
        return _fail(f"stopped with {type(error).__name__}, a defect of dpstats", 1)


def _fail(message: str, code: int) -> int:
    """Print an error in one line and return the exit code."""
    print(f"dpstats: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _reads_study(given: Sequence[str]) -> bool:
    """Tell whether a command reads a study file, whose entries are named as arguments are."""
    return given[:1] == ["run"] or given[:1] == ["plan"] and any(map(is_study, given))


def _in_options(message: str) -> str:
    """Rewrite the arguments that a message names as options."""
    for pattern, replacement in _WORDING:
        message = re.sub(pattern, replacement, message)
    return message


def _joined(argv: Sequence[str]) -> list[str]:
    """Write ``--x-new -1,2`` as ``--x-new=-1,2``, which argparse would take for two options."""
    joined: list[str] = []
    for argument in argv:
        after_option = joined and re.fullmatch(r"--[a-z-]+", joined[-1])
        if after_option and re.match(r"-[\d.]", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined
