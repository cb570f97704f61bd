"""``mipaudit check``: what is in a score file, without estimating anything."""
