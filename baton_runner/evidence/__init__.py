"""What was asked, what was checked, what is proven: packets, checks and their cache, receipts, outcomes, decisions."""
