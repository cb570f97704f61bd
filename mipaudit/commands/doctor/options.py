"""What ``mipaudit doctor`` may be asked."""

from mipaudit.options.declare import Options


class DoctorOptions(Options):
    """Nothing: it looks at all there is."""

    HELP = """Say whether this installation works, and what it lacks.

Loads every library that mipaudit needs, compares its version with the one that is asked for, and
audits a small built-in score file whose limits are known to nine digits. Exit code 0: it works;
2: it does not, and why. No names of users, machines or folders are shown.

\b
Examples:
  mipaudit doctor
  mipaudit doctor -f json
      For a report of what does not work.
"""
