"""`builtin:derived`: the built-in memory over facts, summaries and a timeline made from turns."""
