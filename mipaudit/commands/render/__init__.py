"""``mipaudit render``: a report in another form, or judged by other limits."""
