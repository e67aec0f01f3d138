"""The command line's pages, from the commands themselves: ``{commands}`` writes a section for each."""

from __future__ import annotations

import inspect
from typing import Any

import click
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from infoplane.cli.app import infoplane


def text_of(text: str) -> list[nodes.Node]:
    """Paragraphs of a help text; those after a backspace are shown as they stand."""
    made: list[nodes.Node] = []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.startswith("\b\n"):
            made.append(nodes.literal_block(text=part[2:], language="text"))
        elif part.strip():
            made.append(nodes.paragraph(text=" ".join(part.split())))
    return made


class Commands(SphinxDirective):
    """Sections of all commands, in the order of ``infoplane --help``."""

    def run(self) -> list[nodes.Node]:
        group = click.Context(infoplane, info_name="infoplane")
        made: list[nodes.Node] = []
        for name in infoplane.list_commands(group):
            command = infoplane.get_command(group, name)
            if command is not None and not command.hidden:
                made.append(self.section(name, click.Context(command, info_name=name, parent=group)))
        return made

    def section(self, name: str, context: click.Context) -> nodes.section:
        """Usage, help, and a list of arguments and options."""
        command = context.command
        section = nodes.section(ids=[f"infoplane-{name}"], names=[f"infoplane-{name}"])
        section += nodes.title(text=f"infoplane {name}")
        usage = " ".join(["infoplane", name, *command.collect_usage_pieces(context)])
        section += nodes.literal_block(text=usage, language="text")
        section += text_of(command.help or "")
        entries = nodes.definition_list(classes=["options"])
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None and record[1]:
                term = nodes.term("", "", nodes.literal(text=record[0]))
                entries += nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph(text=record[1])))
        section += entries
        return section


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
