"""``mipaudit noise``: how much noise makes a release membership-inference private."""
