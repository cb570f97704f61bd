"""``mipaudit schema``: the JSON Schema of the reports."""
