import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { parseInboundEvent } from "../../src/inbox/InboundStep.ts"

const about = { consumer_program_slug: "heart-failure", npi: "1234567893" }
const account = { ...about, email: "ann@clinic.test", attribution: "organic" }
const parse = (type: string, data: object, livemode = false) =>
  parseInboundEvent(false)({ type, body: JSON.stringify({ livemode, data }) })

describe("parseInboundEvent", () => {
  it("matches an account by NPI and e-mail address", () => {
    expect(parse("clinician.account_created", account)).toEqual(
      Result.succeed({
        stage: "account_created",
        programSlug: "heart-failure",
        npi: "1234567893",
        email: "ann@clinic.test",
        token: null,
      }),
    )
  })

  it("normalizes an international address as for recipients", () => {
    const emailOf = (email: string) => {
      const parsed = parse("clinician.account_created", { ...account, email })
      return Result.isSuccess(parsed) ? parsed.success?.email : parsed
    }
    expect(emailOf("JOSE\u0301@BÜRO.test")).toBe("josé@xn--bro-hoa.test")
    expect(emailOf("josé@b\u200dü.test")).toSatisfy(Result.isFailure)
  })

  it.each(["learner_qualified", "completer_qualified"] as const)("matches %s by NPI alone", (stage) => {
    expect(parse(`clinician.${stage}`, { ...about, email: "ann@clinic.test" })).toEqual(
      Result.succeed({ stage, programSlug: "heart-failure", npi: "1234567893", email: null, token: null }),
    )
  })

  it("keeps a token only of an account that is attributed to it", () => {
    const tokenOf = (attribution: string) => {
      const parsed = parse("clinician.account_created", { ...account, attribution, token: "aB3dE9" })
      return Result.isSuccess(parsed) ? parsed.success?.token : parsed
    }
    expect(tokenOf("service_token")).toBe("aB3dE9")
    expect(tokenOf("organic")).toBeNull()
  })

  it("ignores types that the service does not know", () => {
    expect(parse("clinician.retired", {})).toEqual(Result.succeed(undefined))
    expect(parse("toString", {})).toEqual(Result.succeed(undefined))
  })

  it("rejects every event of the other livemode, even of an unknown type", () => {
    const rejected = Result.fail("livemode: the event is of the production deployment")
    expect(parse("clinician.learner_qualified", about, true)).toEqual(rejected)
    expect(parse("clinician.retired", {}, true)).toEqual(rejected)
  })

  it.each([
    [{ ...account, npi: undefined }, "data.npi is missing or not valid"],
    [{ ...account, npi: "1234567890" }, "data.npi: the NPI's check digit is wrong"],
    [{ ...account, email: "secret" }, "data.email is missing or not valid"],
    [{ ...account, attribution: "service_token" }, "data.token is missing or not valid"],
  ])("names the member that is wrong and none of its values: %j", (data, reason) => {
    expect(parse("clinician.account_created", data)).toEqual(Result.fail(reason))
  })
})
