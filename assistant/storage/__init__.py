"""What people leave behind: conversations, ratings, sessions, jobs; in SQLite or PostgreSQL."""
