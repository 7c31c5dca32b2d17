import { describe, expect, it } from "vitest"
import type { OrganizationId } from "../../src/Identifier.ts"
import { mayActAs, mayUse, OPERATOR_ROLES, type Operator, STAFF_ROLES } from "../../src/operators/Operator.ts"

it.each([
  ["viewer", ["viewer"]],
  ["operator", ["viewer", "operator"]],
  ["admin", ["viewer", "operator", "admin"]],
  ["partner", []],
] as const)("mayActAs lets a %s do what needs %j, and nothing else", (role, allowed) => {
  expect(STAFF_ROLES.filter((needed) => mayActAs(role, needed))).toEqual(allowed)
})

describe("mayUse", () => {
  const operator = (role: Operator["role"], organizationId: string | null) =>
    ({ role, organizationId: organizationId as OrganizationId | null }) as Operator

  it("lets partners use only pages and actions for partners, at any required staff role", () => {
    for (const role of STAFF_ROLES) {
      const uses = [{ role, forPartners: true }, { role, forPartners: false }, { role }]
      expect(uses.map((access) => mayUse(operator("partner", "org_a"), access))).toEqual([true, false, false])
    }
  })

  it("rejects a partner without an organization", () => {
    for (const role of STAFF_ROLES) expect(mayUse(operator("partner", null), { role, forPartners: true })).toBe(false)
  })

  it("only checks the role of the deployment's staff", () => {
    for (const role of STAFF_ROLES) {
      for (const forPartners of [true, false]) {
        const may = OPERATOR_ROLES.filter(
          (each) => each !== "partner" && mayUse(operator(each, null), { role, forPartners }),
        )
        expect(may).toEqual(STAFF_ROLES.slice(STAFF_ROLES.indexOf(role)))
      }
    }
  })
})
