import { createHmac, timingSafeEqual } from "node:crypto"

/** Returns the token that every form of a session carries, so that no other site can send one. It does not give the session away. */
export const formToken = (sessionToken: string): string =>
  createHmac("sha256", sessionToken).update("console form").digest("base64url")

/** Reports whether a form carries its session's token, in constant time. */
export const isFormToken = (sessionToken: string, given: string | undefined): boolean => {
  const expected = Buffer.from(formToken(sessionToken))
  const actual = Buffer.from(given ?? "")
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
