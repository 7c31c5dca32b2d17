/** Non-ASCII letters and marks of all planes that mailboxes use; no controls, general punctuation or surrogates. */
const LETTER =
  "\\u00a1-\\u00ac\\u00ae-\\u1fff\\u2c00-\\u2dff\\u3005-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufefe\\uff01-\\uffef"

/** Zod's e-mail pattern, extended with non-ASCII letters in the local part (RFC 6531) and the domain (RFC 5890). */
export const EMAIL = new RegExp(
  `^(?!\\.)(?!.*\\.\\.)[A-Za-z0-9_'+\\-.${LETTER}]*[A-Za-z0-9_+\\-${LETTER}]@` +
    `(?:[A-Za-z0-9${LETTER}][A-Za-z0-9\\-${LETTER}]*\\.)+(?:[A-Za-z]{2,}|[Xx][Nn]--[A-Za-z0-9\\-]+|(?=[^.]*[${LETTER}])[A-Za-z0-9\\-${LETTER}]+)$`,
)
