"""Memories that run elsewhere, described by a TOML file: over HTTP, hooks or MCP."""
