import { describe, expect, it } from "vitest"
import { mayActAs, OPERATOR_ROLES } from "../../src/operators/Operator.ts"

describe("mayActAs", () => {
  it.each([
    ["viewer", ["viewer"]],
    ["operator", ["viewer", "operator"]],
    ["admin", ["viewer", "operator", "admin"]],
  ] as const)("lets a %s do what needs %j, and nothing else", (role, allowed) => {
    expect(OPERATOR_ROLES.filter((needed) => mayActAs(role, needed))).toEqual(allowed)
  })
})
