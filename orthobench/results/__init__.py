"""What came out: records in a store, and what is chosen, merged, exported and explained of them."""
