"""What evenhand costs, measured through its own command line in processes of their own."""
