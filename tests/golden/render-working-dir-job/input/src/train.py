import lib.util
