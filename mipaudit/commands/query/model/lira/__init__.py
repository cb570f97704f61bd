"""``mipaudit query lira``: the likelihood-ratio score of shadow models."""
