"""Define ``dpstats ledger``, ``run`` and ``verify``, and the ledger that an option names."""

import argparse
import json

from dpstats import Ledger, run_study
from dpstats.cli.outputs import PICTURES, check_matplotlib, checked_output, draw
from dpstats.errors import ArgumentError, LedgerError
from dpstats.privacy import DEFAULT_DELTA
from dpstats.results.record.record import verify_record

PURPOSE = "keep the privacy budget of a data set in a file"
RUN = "run a study file and write its release record"
VERIFY = "compare a release record with its checksums"


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands of ``dpstats ledger``."""
    parser.set_defaults(run=lambda arguments: parser.print_help())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(name: str, run, text: str):
        added = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.set_defaults(run=run)
        added.add_argument("ledger", metavar="FILE", help="the ledger")
        return added.add_argument

    _add_create(command("create", _create, "make a ledger in a new file"))
    add = command("show", _show, "show what is spent and what remains")
    add("--plot", metavar="OUT", help="picture of the spending: .png, .pdf or .svg")
    add = command("allocate", _allocate, "allow an analyst to spend so much in all")
    add("analyst", metavar="NAME")
    add("--epsilon", required=True, type=float, metavar="E", help="limit on the analyst's calls")
    add("--delta", type=float, metavar="D", help="default: that of the data set")
    add = command("requests", _requests, "list the requests")
    add("--state", metavar="S", help="those that are requested, approved, denied, reserved, ...")
    add = command("request", _request, "show what a request asks for in full")
    add("request", type=int, metavar="N", help="its number")
    add = command("move", _move, "say where the data are now, or that columns were added")
    add("data", metavar="DATA", help="file or quoted glob")
    for name, text in (("approve", "let a request run"), ("deny", "refuse a request")):
        add = command(name, _settle, text)
        add("request", type=int, metavar="N", help="its number")
        add("--as", dest="state", default=name, help=argparse.SUPPRESS)
    add = command("verify", _verify, "recompute the hashes and the sums")
    add("--head", metavar="HASH", help="an audit head of earlier, which must still be there")
    add = command("export", _export, "write everything as JSON")
    add("-o", dest="out", required=True, metavar="OUT", help="file: .json")


def _add_create(add) -> None:
    add("--dataset", required=True, metavar="NAME", help="name of the data set")
    add("--epsilon", required=True, type=float, metavar="E", help="limit on all releases")
    limit = f"limit on all releases (default: {DEFAULT_DELTA:g})"
    add("--delta", type=float, default=DEFAULT_DELTA, metavar="D", help=limit)
    add("--neighbors", default="add_remove", metavar="REL", help="add_remove or replace_one")
    add("--unit", metavar="COL", help="persons, protected with all of their rows (default: rows)")
    add("--composition", metavar="RULE", help="gdp or sum")
    add("--set-aside", type=float, metavar="D", help="part of delta for methods of the kind approx")
    add("--fingerprint", metavar="TEXT", help="state of the data; equal calls are then free")
    add("--approval", action="store_true", help="each call waits for `dpstats ledger approve`")
    add("--data", metavar="DATA", help="its file or quoted glob (default: that of the first call)")


def _create(arguments) -> None:
    names = ("dataset", "epsilon", "delta", "neighbors", "unit", "composition", "set_aside",
             "fingerprint", "approval", "data")  # fmt: skip
    call = {name: getattr(arguments, name) for name in names}
    print(Ledger.create(arguments.ledger, **call).summary())


def _show(arguments) -> None:
    ledger = Ledger(arguments.ledger)
    if arguments.plot:
        path = checked_output(arguments.plot, "--plot", PICTURES)
        check_matplotlib()
        draw(path, ledger.plot)
    print(ledger.summary())


def _allocate(arguments) -> None:
    ledger = Ledger(arguments.ledger)
    ledger.allocate(arguments.analyst, arguments.epsilon, arguments.delta)
    print(ledger.analysts().to_string(index=False))


def _move(arguments) -> None:
    ledger = Ledger(arguments.ledger)
    ledger.move(arguments.data)
    print(ledger.summary())


def _requests(arguments) -> None:
    frame = Ledger(arguments.ledger).requests(arguments.state)
    print(frame.to_string(index=False) if len(frame) else "no requests")


def _request(arguments) -> None:
    for name, value in Ledger(arguments.ledger).request(arguments.request).items():
        print(f"{name}: {value if isinstance(value, str) else json.dumps(value)}")


def _settle(arguments) -> None:
    ledger = Ledger(arguments.ledger)
    settle = {"approve": ledger.approve, "deny": ledger.deny}[arguments.state]
    settle(arguments.request)
    frame = ledger.requests()
    print(frame[frame["id"] == arguments.request].to_string(index=False))


def _verify(arguments) -> None:
    found = Ledger(arguments.ledger).verify(arguments.head)
    print(found)
    if not found.ok:
        raise LedgerError(f"{arguments.ledger} is not as it was written; see above")


def _export(arguments) -> None:
    ledger = Ledger(arguments.ledger)
    ledger.export(checked_output(arguments.out, "-o", (".json",)))


def add_run(add) -> None:
    """Add the options of ``dpstats run``."""
    add("study", metavar="STUDY", help="study file: .toml")
    add("-o", dest="out", required=True, metavar="DIR", help="new folder for the record")
    add("--dry-run", action="store_true", help="on synthetic rows; no row is read, nothing spent")
    add("--ledger", metavar="FILE", help="ledger to charge")
    add("--analyst", metavar="NAME", help="whose allocation of the ledger pays")


def run(arguments) -> None:
    """Run a study."""
    ledger = opened(arguments)
    if ledger is None and not arguments.dry_run:
        raise ArgumentError("name the ledger that pays with --ledger, or try it with --dry-run")
    folder = run_study(arguments.study, arguments.out, ledger=ledger, dry_run=arguments.dry_run)
    print(f"wrote {folder}")


def verify(arguments) -> None:
    """Compare the files of a release record with their checksums."""
    problems = verify_record(arguments.record)
    print("\n".join(problems) or f"{arguments.record}: all files are as they were written")
    if problems:
        raise ArgumentError(f"{arguments.record} is not as it was written; see above")


def opened(arguments) -> Ledger | None:
    """Open the ledger that --ledger names, for --analyst; return None without one."""
    if arguments.ledger is None:
        if arguments.analyst is not None:
            raise ArgumentError("--analyst says who charges a ledger; name it with --ledger")
        return None
    return Ledger(arguments.ledger, arguments.analyst)
