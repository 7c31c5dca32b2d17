/** What every answer carries. A document of a frame brings its own `Content-Security-Policy`. */
export const securityHeaders = (isTls: boolean): Readonly<Record<string, string>> => ({
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With none at all, browsers would send `Origin: null` with the console's own forms.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  ...(isTls && { "strict-transport-security": "max-age=31536000" }),
})
