"""``mipaudit doctor``: whether this installation works, and what it lacks."""
