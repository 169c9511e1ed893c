"""What a front end ends with in one line and exit code 2: expected, and not the design's fault."""


class UsageError(ValueError):
    """A command line that cannot be carried out; the message says what would be right."""


class ToolError(RuntimeError):
    """A tool of the flow cannot do its work; the message says which, why and, at best, the cure."""
