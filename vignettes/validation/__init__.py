"""A validation service for a made-up survey: scripts, and a page of what they print."""
