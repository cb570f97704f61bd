"""Accountants of privacy: compositions and DP-SGD, by privacy losses."""
