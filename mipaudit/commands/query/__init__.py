"""``mipaudit query``: scores from tables of members, holdout and synthetic records."""
