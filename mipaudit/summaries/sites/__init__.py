"""What several sites agree on without showing a score."""
