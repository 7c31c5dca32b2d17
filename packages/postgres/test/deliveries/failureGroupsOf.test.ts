import { EndpointId } from "@outreach/domain/Identifier"
import { failureGroupsOf } from "@outreach/postgres/deliveries/failureGroupsOf"
import { expect, test } from "vitest"

const ENDPOINT = EndpointId.make(`whe_${"0".repeat(32)}`)
const ATTEMPT = { status: 500, outcome: "server_error", response: "Down since 12:30" }

test("a group depends on the endpoint, status, outcome and line, and has a stable id", () => {
  const { exact, overflow, blank } = failureGroupsOf(ENDPOINT, ATTEMPT)
  expect(exact).toEqual({
    ...{ id: "fgr_4f5639b77049dd3398020eb57ea8bc40", endpointId: ENDPOINT, status: 500, outcome: "server_error" },
    line: "Down since #:#",
  })
  expect(failureGroupsOf(ENDPOINT, { ...ATTEMPT, response: "Down since 14:05" }).exact).toEqual(exact)
  const others = [
    failureGroupsOf(EndpointId.make(`whe_${"1".repeat(32)}`), ATTEMPT),
    failureGroupsOf(ENDPOINT, { ...ATTEMPT, status: 503 }),
    failureGroupsOf(ENDPOINT, { ...ATTEMPT, outcome: "redirect" }),
    failureGroupsOf(ENDPOINT, { ...ATTEMPT, response: "Full" }),
  ].map((groups) => groups.exact.id)
  expect(new Set([exact.id, overflow!.id, blank.id, ...others]).size).toBe(7)
})

test("a dead letter with an empty response has only one group", () => {
  const { exact, overflow, blank } = failureGroupsOf(ENDPOINT, { ...ATTEMPT, response: null })
  expect({ exact, overflow }).toEqual({ exact: blank, overflow: null })
  expect(failureGroupsOf(ENDPOINT).exact).toMatchObject({ status: null, outcome: "unknown", line: null })
})
