"""The parts that pages share: limits and verdicts, origin, tables by class."""
