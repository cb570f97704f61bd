"""What has a true value that the tool states limits of: a class each."""
