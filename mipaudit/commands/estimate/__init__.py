"""``mipaudit estimate``: how much anybody could learn about membership from a score."""
