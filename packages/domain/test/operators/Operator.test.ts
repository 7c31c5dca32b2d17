import { describe, expect, it } from "vitest"
import type { OrganizationId } from "../../src/Identifier.ts"
import {
  isPartner,
  mayActAs,
  mayUse,
  OPERATOR_ROLES,
  type Operator,
  STAFF_ROLES,
} from "../../src/operators/Operator.ts"

it.each([
  ["viewer", ["viewer"]],
  ["operator", ["viewer", "operator"]],
  ["admin", ["viewer", "operator", "admin"]],
  ["partner", []],
  ["partner-admin", []],
] as const)("mayActAs lets a %s do what needs %j, and nothing else", (role, allowed) => {
  expect(STAFF_ROLES.filter((needed) => mayActAs(role, needed))).toEqual(allowed)
})

describe("mayUse", () => {
  const operator = (role: Operator["role"], organizationId: string | null) =>
    ({ role, organizationId: organizationId as OrganizationId | null }) as Operator

  it.each([
    ["partner", ["viewer", "operator"]],
    ["partner-admin", ["viewer", "operator", "admin"]],
  ] as const)("lets a %s of an organization use what is for partners and needs %j, and nothing else", (own, roles) => {
    const accesses = STAFF_ROLES.flatMap((role) => [
      { role, forPartners: true },
      { role, forPartners: false },
      { role },
    ])
    const used = (organizationId: string | null) =>
      accesses.filter((access) => mayUse(operator(own, organizationId), access))
    expect(used("org_a")).toEqual(roles.map((role) => ({ role, forPartners: true })))
    expect(used(null)).toEqual([])
  })

  it("only checks the role of the deployment's staff", () => {
    for (const role of STAFF_ROLES) {
      for (const forPartners of [true, false]) {
        const may = OPERATOR_ROLES.filter(
          (each) => !isPartner({ role: each }) && mayUse(operator(each, null), { role, forPartners }),
        )
        expect(may).toEqual(STAFF_ROLES.slice(STAFF_ROLES.indexOf(role)))
      }
    }
  })
})
