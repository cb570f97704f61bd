"""``mipaudit bounds``: what a privacy guarantee allows an attacker, and back."""
