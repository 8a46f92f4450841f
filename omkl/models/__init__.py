"""Models: trained learners that are asked, saved, loaded and taught further."""
