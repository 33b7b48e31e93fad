"""What cannot matter: distinctions that no experiment shows, and questions that none can settle."""
