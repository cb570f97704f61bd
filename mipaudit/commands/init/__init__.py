"""``mipaudit init``: a policy file to begin with."""
