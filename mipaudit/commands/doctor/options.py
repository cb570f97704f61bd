"""What ``mipaudit doctor`` may be asked."""

from mipaudit.options.declare import Options


class DoctorOptions(Options):
    """Nothing: it looks at all there is."""

    HELP = """Check whether this installation works, and what it lacks.

Loads every library that mipaudit needs, compares its version with the required one, and audits
a small built-in score file whose figures are known to nine digits. Exit code 0: all works; 2:
something does not, and the report says what. Shows no names of users, machines or folders.

\b
Examples:
  mipaudit doctor
  mipaudit doctor -f json
      To attach when you report a problem.
"""
