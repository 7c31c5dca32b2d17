import { parseInboundEvent } from "@outreach/domain/inbox/InboundStep"
import { Option, Result } from "effect"
import { describe, expect, it } from "vitest"
import { quarantineAdvice } from "../../src/inbox/quarantineAdvice.ts"

describe("quarantineAdvice", () => {
  it("explains that a replay doesn't help if the partner's data is wrong", () => {
    const result = parseInboundEvent(false)({
      type: "clinician.learner_qualified",
      body: JSON.stringify({ livemode: false, data: { npi: "12", consumer_program_slug: "heart-failure" } }),
    })
    const reason = Option.getOrThrow(Result.getFailure(result))
    expect(reason).toContain("data.npi")
    expect(quarantineAdvice(reason)).toContain("a replay fails too")
  })

  it("distinguishes another deployment, an unknown program and the database", () => {
    const result = parseInboundEvent(false)({ type: "any", body: JSON.stringify({ livemode: true }) })
    expect(quarantineAdvice(Option.getOrThrow(Result.getFailure(result)))).toContain("the wrong deployment")
    expect(quarantineAdvice("data.consumer_program_slug names no program of the organization")).toContain(
      "Create a program",
    )
    expect(quarantineAdvice("it could not be applied: 23514")).toContain("The database rejected it")
  })
})
