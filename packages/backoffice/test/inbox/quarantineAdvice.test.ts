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
    expect(quarantineAdvice(reason).partner).toContain("a replay fails too")
    expect(quarantineAdvice(reason).you).toContain("Send a corrected event")
  })

  it("distinguishes another deployment, an unknown program and the database", () => {
    const result = parseInboundEvent(false)({ type: "any", body: JSON.stringify({ livemode: true }) })
    for (const [reason, partner, you] of [
      [Option.getOrThrow(Result.getFailure(result)), "the wrong deployment", "the wrong deployment"],
      ["data.consumer_program_slug names no program of the organization", "Create a program", "ask us to create"],
      ["it could not be applied: 23514", "The database rejected it", "We failed to apply it"],
    ] as const) {
      expect(quarantineAdvice(reason)).toEqual({
        partner: expect.stringContaining(partner),
        you: expect.stringContaining(you),
      })
    }
  })
})
