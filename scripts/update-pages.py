#!/usr/bin/env python3
"""Takes what manual pages and the tests' help pages say of options and examples from the program's --help.

usage: scripts/update-pages.py [PROGRAM]      (make pages)

Help pages go to tests/cli/expected/ whole; in man/*.1 an item of the option list, or the examples, is rewritten
where it does not say what --help says. A command without a manual page gets one, made of its help, and a line among
those that gpubench.1 refers to: to be written further by hand. gpubench.1 lists the commands as help does."""
import datetime
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "gpubench")


def help_of(*arguments):
    return subprocess.run([PROGRAM, *arguments, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout


def options_of(text):
    """[(flags and argument, help)] of a help page."""
    found = []
    for line in re.search(r"^Options:\n(.*?)(\n\n|\Z)", text, re.S | re.M)[1].splitlines():
        head, body = line[:28].strip(), line[28:].strip()
        if head:
            found.append([head, body])
        else:
            found[-1][1] += " " + body
    return found


def item(head, body):
    flags, argument = re.fullmatch(r"((?:-\w, )?--[\w-]+)(?: (.*))?", head).groups()
    words = re.sub(r"--([\w-]+)", r"Fl Fl \1", re.sub(r"^-(\w),", r"Fl \1 ,", flags)) + (f" Ar {argument}" if argument else "")
    lines = []
    for sentence in re.split(r"(?<=\.) (?=[A-Z])", body):
        lines += textwrap.wrap(sentence, 79, break_on_hyphens=False, break_long_words=False)
    lines = ["\\&" + line if line[0] in ".'" else line for line in lines]
    return f".It {words}\n" + "\n".join(lines) + "\n"


def said(text):
    return text.split("\n", 1)[0], " ".join(text.split("\n", 1)[1].split())


def update(page, text):
    manual = page.read_text()
    listed = re.search(r"^The options are:\n\.Bl [^\n]*\n(.*?)^\.El", manual, re.S | re.M)
    old = {said(i)[0]: i for i in re.findall(r"^\.It .*\n(?:(?!\.It ).*\n)*", listed[1], re.M)}
    new = [item(head, body) for head, body in options_of(text)]
    new = [old[said(i)[0]] if said(i)[0] in old and said(old[said(i)[0]]) == said(i) else i for i in new]
    manual = manual[:listed.start(1)] + "".join(new) + manual[listed.end(1):]
    shown = re.search(r"^\.Sh EXAMPLES\n\.Bd [^\n]*\n(.*?)^\.Ed", manual, re.S | re.M)
    examples = re.findall(r"^  (gpubench .*)$", text, re.M)
    if shown and "$ " + "\n$ ".join(examples) != shown[1].rstrip():
        kept = re.findall(r"^\$ (.*)$", shown[1], re.M)
        if kept != examples:
            manual = manual[:shown.start(1)] + "".join(f"$ {e}\n" for e in examples) + manual[shown.end(1):]
    page.write_text(manual)


def begin(page, command, text):
    """A page that says what help does."""
    usage, description = re.match(r"Usage: gpubench \w+ ([^\n]*)\n\n(.*?)\n\n", text, re.S).groups()
    synopsis = [".Op Ar options"] + [f".Ar {word}" for word in usage.split()[1:]]
    page.write_text("\n".join([
        f".Dd {datetime.date.today():%B %-d, %Y}", f".Dt GPUBENCH-{command.upper()} 1", ".Os", ".Sh NAME",
        f".Nm gpubench-{command}", f".Nd {summary(command)}", ".Sh SYNOPSIS", f".Nm gpubench Cm {command}", *synopsis,
        ".Sh DESCRIPTION", *textwrap.wrap(description, 79), ".Pp", "The options are:", ".Bl -tag -width Ds", ".El",
        ".Sh EXIT STATUS", ".Bl -tag -width 130", ".It 0", "Done.", ".It 1", "It could not be done.", ".It 2",
        "Bad usage.", ".El", ".Sh EXAMPLES", ".Bd -literal -offset indent", ".Ed", ".Sh SEE ALSO", ".Xr gpubench 1", ""]))
    all_of_them = ROOT / "man/gpubench.1"
    manual = all_of_them.read_text()
    if f".Xr gpubench-{command} 1 ,\n" not in manual:
        pages = re.search(r"(^\.Xr gpubench-\w+ 1 ,\n)+(?=\.Xr gpubench-config 5)", manual, re.M)
        sorted_pages = "".join(sorted([*pages[0].splitlines(True), f".Xr gpubench-{command} 1 ,\n"]))
        manual = manual[:pages.start()] + sorted_pages + manual[pages.end():]
        all_of_them.write_text(manual)


def summary(command):
    return " ".join(re.search(rf"^  {command} +(.*(?:\n {{12}}.*)*)", help_of(), re.M)[1].split())


def list_commands(page, commands):
    """As help lists them."""
    items = ""
    for command in commands:
        line = summary(command)
        items += f".It Xr gpubench-{command} 1\n{line[0].upper()}{line[1:]}{'' if line.endswith('?') else '.'}\n"
    page.write_text(re.sub(r"(^The commands, [^\n]*\n\.Bl [^\n]*\n).*?(^\.El)", lambda m: m[1] + items + m[2],
                           page.read_text(), count=1, flags=re.S | re.M))


def main():
    commands = re.findall(r"^  ([a-z]+) ", help_of(), re.M)
    list_commands(ROOT / "man/gpubench.1", commands)
    for arguments in [[]] + [[c] for c in commands]:
        name = "-".join(["gpubench", *arguments])
        text = help_of(*arguments)
        (ROOT / "tests/cli/expected" / "-".join(["help", *arguments])).with_suffix(".txt").write_text(text)
        page = ROOT / "man" / f"{name}.1"
        if not page.exists():
            begin(page, arguments[0], text)
        update(page, text)


main()
