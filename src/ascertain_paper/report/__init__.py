"""The page and the files of studies, drawn from their records."""
