"""From an opened input to the counts that every estimate rests on."""
