"""What a run leaves in its folder: its record, its rows; and replays, which compare both."""
