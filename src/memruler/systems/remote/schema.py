"""The published JSON Schema of the TOML file of a remote memory, made from its record."""

import json

import msgspec

from memruler.systems.remote.spec import RemoteSpec

__all__ = ["system_schema"]


def system_schema() -> bytes:
    """`system.schema.json` as the bytes of its file."""
    plain = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The TOML file of a memory that runs elsewhere",
        **msgspec.json.schema(RemoteSpec),
    }
    return (json.dumps(plain, indent=2, allow_nan=False) + "\n").encode("ascii")
