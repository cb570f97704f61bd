"""What ``estimate`` shows: the page of text, the document, the pictures."""
