"""The kinds of assertions that come with evenhand, one family a module; importing this package registers them."""

from evenhand.assertions import equality as equality
from evenhand.assertions import structured as structured
from evenhand.assertions import text as text
