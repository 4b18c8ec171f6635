"""`memruler list`: every corpus with its version, size, licence and tier, and what is cached."""

from typing import Any

import click
import msgspec

__all__ = ["command", "human_size"]

_TIERS = {
    "pinned-upstream": "upstream",
    "pinned-on-first-fetch": "first fetch",
    "bundled": "bundled",
    "local-file": "local file",
}
_HEADINGS = ("corpus", "version", "size", "licence", "pinned", "cached")
_LEGEND = (
    "pinned: upstream = memruler knows the SHA-256; first fetch = yours will set it.\n"
    "`memruler fetch NAME` fetches one; jsonl is a file of your own (`--path FILE`)."
)
_SIZES = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000


@click.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, with URLs and digests.")
def command(*, as_json: bool) -> None:
    """List the corpora, their licences, and what is cached."""
    rows = _rows()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    lines = [_HEADINGS, *(_line(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADINGS))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo(" ".join(cells).rstrip())
    click.echo(f"\n{_LEGEND}")


def _rows() -> list[dict[str, Any]]:
    # Late: --help needs no corpora.
    from memruler.corpora.cached import cached_path, state  # noqa: PLC0415
    from memruler.corpora.pins import pins  # noqa: PLC0415

    rows = []
    for name, pin in pins().items():
        found = state(name) if pin.url else None
        rows.append(
            {
                "name": name,
                **msgspec.structs.asdict(pin),
                "version": pin.label,
                "state": found,
                "path": str(cached_path(name)) if found in {"cached", "unverified"} else None,
            }
        )
    return rows


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    words = {"cached": "yes", "absent": "no", "partial": "in part", "unverified": "to check"}
    return (
        row["name"],
        row["version"],
        "-" if row["size"] is None else human_size(row["size"]),
        row["licence"],
        _TIERS[row["tier"]],
        words.get(row["state"], "-"),
    )


def human_size(count: int) -> str:
    """Bytes for people, in powers of 1000: `999 B`, `2.8 MB`.

    Args:
        count: Bytes, 0 or more.
    """
    size, unit = float(count), 0
    # 999.95 would print as 1000.0
    while size >= _STEP - (0.05 if unit else 0) and unit < len(_SIZES) - 1:
        size, unit = size / _STEP, unit + 1
    return f"{size:.1f} {_SIZES[unit]}" if unit else f"{count} B"
