"""The limits and waivers that a policy lists."""
