"""Where settings come from: the words typed, the environment, the policy file."""
