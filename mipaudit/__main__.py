"""``python -m mipaudit`` is the command ``mipaudit``."""

from __future__ import annotations

from mipaudit.cli.app import main

if __name__ == "__main__":
    main()
