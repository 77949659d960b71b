"""A repository on disk and in Git: what is there, what a build would change, and why. The edge of the compiler."""
