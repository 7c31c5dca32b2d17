import { expect, it } from "vitest"
import { formToken, isFormToken } from "../../src/http/readForm.ts"

it("belongs to its session alone, and does not give it away", () => {
  const token = formToken("session one")
  expect(isFormToken("session one", token)).toBe(true)
  for (const other of [undefined, "", token.slice(1), `${token}A`, formToken("session two")]) {
    expect(isFormToken("session one", other)).toBe(false)
  }
  expect(token).not.toContain("session")
})
