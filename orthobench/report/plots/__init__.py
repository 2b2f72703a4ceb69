"""What is drawn, as data: no plot knows who draws it."""
