import { describe, expect, it } from "vitest"
import { checkFollowUp, type FollowedRecipient, type FollowUp, judgeFollowed } from "../../src/campaigns/FollowUp.ts"
import { CampaignId, ProgramId, RecipientId } from "../../src/Identifier.ts"
import { EmailAddress } from "../../src/recipients/EmailAddress.ts"
import { Npi } from "../../src/recipients/Npi.ts"
import { fromUnixMillis, toUnixMillis } from "../../src/Timestamp.ts"

const DAY = 86_400
const at = (days: number) => fromUnixMillis(Date.UTC(2026, 11, 1) + days * DAY * 1000)

const programId = ProgramId.make(`pgm_${"0".repeat(32)}`)
const followUpOf = CampaignId.make(`cmp_${"0".repeat(32)}`)
const recipient: FollowedRecipient = {
  id: RecipientId.make(`rcp_${"0".repeat(32)}`),
  npi: Npi.make("1234567893"),
  email: EmailAddress.make("dana@clinic.test"),
  sentAt: at(0),
  bouncedAt: null,
  isErased: false,
  isRefusedLater: false,
  hasComplained: false,
  hasClicked: false,
  hasAccount: false,
  hasQualified: false,
}

describe("judgeFollowed", () => {
  const judge = (changes: Partial<FollowedRecipient>, unless: FollowUp["unless"] = "clicked", days = 5) =>
    judgeFollowed({ ...recipient, ...changes }, { unless, afterSeconds: 5 * DAY, windowStart: at(days) })

  it("draws a recipient who has had the time and has done nothing, and not a moment before", () => {
    expect(judge({})).toBeUndefined()
    expect(judge({ sentAt: fromUnixMillis(toUnixMillis(at(0)) + 1) })).toBe("too_recent")
  })

  it.each([
    ["not_sent", { sentAt: null }],
    ["bounced", { bouncedAt: at(1) }],
    ["bounced", { sentAt: null, bouncedAt: at(1) }],
    ["erased", { isErased: true }],
    ["refused_later", { isRefusedLater: true }],
    ["complained", { hasComplained: true }],
    ["clicked", { hasClicked: true }],
  ] as const)("skips as %s", (reason, changes) => {
    expect(judge(changes)).toBe(reason)
  })
})

describe("checkFollowUp", () => {
  const followed = {
    id: followUpOf,
    programId,
    kind: "traffic" as const,
    status: "sending" as const,
    windowEnd: at(2),
    lastSentAt: at(1),
  }
  const check = (
    changes: Partial<Parameters<typeof checkFollowUp>[1]> = {},
    campaign: Partial<Parameters<typeof checkFollowUp>[2]> = {},
  ) =>
    checkFollowUp(
      { followUpOf, unless: "clicked", afterSeconds: 5 * DAY },
      { ...followed, ...changes },
      { programId, kind: "traffic", windowStart: at(8), ...campaign },
    )

  it.each([
    ["another program", {}, { programId: ProgramId.make(`pgm_${"1".repeat(32)}`) }, /of the same program/],
    ["another kind", { kind: "survey" }, {}, /is a survey campaign, and so is its follow-up/],
    ["a draft", { status: "draft" }, {}, /is a draft/],
    ["a campaign that was cancelled before it sent", { status: "cancelled", lastSentAt: null }, {}, /nobody to follow/],
    [
      "a window before everybody has had the time",
      {},
      { windowStart: at(6.9) },
      /may send until .* before 2026-12-08T00:00:01/,
    ],
    [
      "the same once the last e-mail was sent",
      { status: "completed" },
      { windowStart: at(5.9) },
      /its last e-mail at .* before 2026-12-07T00:00:01/,
    ],
  ] as const)("refuses %s", (_, changes, campaign, reason) => {
    expect(check(changes, campaign)).toMatch(reason)
  })
})
