"""The built-in memory as a server: hook events in, an MCP tool and plain HTTP out."""
