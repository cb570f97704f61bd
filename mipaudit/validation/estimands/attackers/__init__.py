"""What commands say of attackers who are named, and of records."""
