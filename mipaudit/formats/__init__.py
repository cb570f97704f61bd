"""A report in every format: text, HTML, Markdown, JUnit, CSV."""
