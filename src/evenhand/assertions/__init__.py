"""The kinds of assertions that come with evenhand, one family a module; importing this package registers them."""

from evenhand.assertions import checker as checker
from evenhand.assertions import equality as equality
from evenhand.assertions import expression as expression
from evenhand.assertions import groups as groups
from evenhand.assertions import metrics as metrics
from evenhand.assertions import pattern as pattern
from evenhand.assertions import rubric as rubric
from evenhand.assertions import scripts as scripts
from evenhand.assertions import similar as similar
from evenhand.assertions import structured as structured
from evenhand.assertions import text as text
from evenhand.assertions import tools as tools
from evenhand.assertions import traces as traces
