"""What people look at: tables for the terminal, figures, pages."""
