"""Names that promise a credential.

A name that ends in TOKEN, SECRET, CREDENTIALS or KEY, or that has PASSWORD in it, promises one. Settings of
machine-learning programs use the same words for other things, so these pass:

- TOKEN: a count or a rate (``MAX_TOKEN``, ``COST_PER_TOKEN``), or a tokenizer's special token, known by its
  name (``PAD_TOKEN``, ``EOS_TOKEN``) or its looks (``<s>``, ``[MASK]``). ``*_TOKENS`` and ``TOKENIZER*`` do
  not end in the word.
- KEY: the name of a field (``TEXT_KEY``, ``SORT_KEY``, ``METRIC_KEY``), or what is no secret
  (``PUBLIC_KEY``); and a plain word (``eval_loss``), unless only secrets have such a name (``API_KEY``,
  ``ACCESS_KEY`` and others).
- Names whose last word says that they are about a secret (``*_FILE``, ``*_PATH``, ``*_NAME``, ``*_ID`` and
  others).
- Values: empty, a boolean, ``none``, a path, another variable (``$(NAME)``); a number of up to 8 digits,
  except for a password or secret.

A string of hex digits under a name that promises nothing is a commit or a digest, and passes.
"""

from __future__ import annotations

import re

from tau_compile.rules.credential_shapes import reference


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ABOUT = _words(
    "ALGORITHM ALIAS ARN BITS CLASS COUNT DIR DIRECTORY ENABLED EXPIRY FILE FILENAME FOLDER FORMAT HASH "
    "HEADER ID IDS INDEX LEN LENGTH LIMIT LOCATION MODE NAME NAMES NAMESPACE PATH PATTERN POLICY PREFIX "
    "PROVIDER REF REGEX REGION REQUIRED ROTATION SIZE SOURCE STORE SUFFIX TTL TYPE URI URL VERSION"
)
_TOKEN_OTHERS = _words(
    "ASSISTANT AUDIO BEGIN BOS CLASS CLS COUNT DECODER END EOD EOS EOT FIRST IGNORE IMAGE IMG LAST MASK "
    "MAX MIN NEW NEXT NUM PAD PADDING PATCH PER PROMPT SEP SEPARATOR SPECIAL START STOP SYSTEM THINK "
    "TRIGGER UNK USER VIDEO VOCAB"
)
_KEY_OTHERS = _words(
    "ANSWER BATCH BUCKET CACHE CAPTION CHECKPOINT COLUMN CONFIG DATA DATASET DEDUP DICT DOCUMENT FEATURE "
    "FIELD FOREIGN GROUP HASH HOT IDEMPOTENCY IMAGE INDEX INPUT JOIN JSON LABEL LOSS MAP MERGE METRIC "
    "MODEL MONITOR OBJECT OBS OUTPUT PARTITION PRIMARY PROMPT PUB PUBLIC QUESTION REDUCE RESPONSE REWARD "
    "ROUTING S3 SAMPLE SHARD SORT SOURCE STATE TAG TARGET TASK TEXT TRACE USE WEIGHT"
)
_KEY_SECRETS = _words(
    "ACCESS ACCOUNT ADMIN API APP AUTH CLIENT DEPLOY ENCRYPTION HMAC LICENSE MASTER PRIVATE SAS SECRET "
    "SERVICE SHARED SIGNING SSH STORAGE SUBSCRIPTION WANDB WEBHOOK"
)
_NOTHING = _words("false true yes no on off none null nil undefined default disabled enabled 0 1")

_PATH = re.compile(r"(?:file://)?(?:~|\.{1,2})?/[\w./@+-]*|[\w.-]+(?:/[\w.-]+)+\.[A-Za-z0-9]{1,5}")
_NUMBER = re.compile(r"[-+]?[0-9]{1,8}(?:\.[0-9]{1,8})?(?:e[-+]?[0-9]{1,3})?", re.IGNORECASE)
_SPECIAL = re.compile(r"<[^<>]{0,64}>|\[[^\[\]]{0,64}\]|\S{0,2}")
_PLAIN_WORD = re.compile(r"[A-Za-z]{1,20}(?:[_./ -][A-Za-z]{1,20}){0,5}")
_AWS_SECRET = re.compile(r"[A-Za-z0-9+/]{40}")


def promises_secret(name: str, value: str) -> bool:
    """Whether the name of a literal promises a credential, and the value does not show that it is none."""
    words = [word for word in re.split(r"[^A-Z0-9]+", name.upper()) if word and not word.isdigit()]
    value = value.strip()
    if not words or not value or value.lower() in _NOTHING or reference(value):
        return False
    last = words[-1].rstrip("0123456789") or words[-1]
    before = words[-2] if len(words) > 1 else ""
    if last in _ABOUT:
        return False
    if "AWS" in words and "SECRET" in words and _AWS_SECRET.fullmatch(value):
        return True  # it may begin with / as a path does
    if _PATH.fullmatch(value):
        return False
    if "PASSWORD" in name.upper() or last in ("PASSWD", "PASSPHRASE") or (last == "PWD" and before):
        return True
    if last in ("SECRET", "SECRETS", "CREDENTIAL", "CREDENTIALS", "CREDS"):
        return before != "PULL"  # the name of an image pull secret
    if _NUMBER.fullmatch(value):
        return False
    if last in ("TOKEN", "ACCESSTOKEN", "APITOKEN", "AUTHTOKEN"):
        return before not in _TOKEN_OTHERS and not _SPECIAL.fullmatch(value)
    if last.endswith(("ACCESSKEY", "APIKEY", "PRIVATEKEY", "SECRETKEY")):
        return True
    if last != "KEY" or not before or before in _KEY_OTHERS:
        return False
    return before in _KEY_SECRETS or not _PLAIN_WORD.fullmatch(value)
