"""What the page and the article say."""
