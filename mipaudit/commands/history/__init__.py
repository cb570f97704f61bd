"""``mipaudit history``: the reports of several releases, side by side in time."""
