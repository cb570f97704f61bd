"""The estimands: from summaries to estimates, claims, policy and findings."""
