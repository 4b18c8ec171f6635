"""`memruler completion`: the script by which a shell completes verbs, options and names."""

import json

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_MEMRULER_COMPLETE"


@click.command(name="completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(*, shell: str, as_json: bool) -> None:
    """Print the shell's script that completes verbs, options and names.

    For this session: `eval "$(memruler completion bash)"`, the same with zsh, or
    `memruler completion fish | source`. For good, put that line into ~/.bashrc, ~/.zshrc or
    ~/.config/fish/config.fish. Corpora, systems and the runs in ./runs are completed by name.
    """
    from memruler.cli.main import cli  # noqa: PLC0415 - it loads this module

    found = get_completion_class(shell)
    if found is None:
        raise TypeError(f"click knows no {shell}")
    made = found(cli, {}, "memruler", _VARIABLE)
    # Not `source()`, which starts bash to learn its version.
    script = made.source_template % made.source_vars()
    click.echo(json.dumps({"shell": shell, "script": script}) if as_json else script)
