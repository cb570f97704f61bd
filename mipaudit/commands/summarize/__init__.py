"""``mipaudit summarize``: counts that leave the scores where they are."""
