import { describe, expect, it } from "vitest"
import { type FollowedRecipient, type FollowUp, judgeFollowed } from "../../src/campaigns/FollowUp.ts"
import { RecipientId } from "../../src/Identifier.ts"
import { EmailAddress } from "../../src/recipients/EmailAddress.ts"
import { Npi } from "../../src/recipients/Npi.ts"
import { fromUnixMillis, toUnixMillis } from "../../src/Timestamp.ts"

const DAY = 86_400
const at = (days: number) => fromUnixMillis(Date.UTC(2026, 11, 1) + days * DAY * 1000)

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
