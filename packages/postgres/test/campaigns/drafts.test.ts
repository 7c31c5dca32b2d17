import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import {
  type CampaignEdits,
  commandCampaign,
  createCampaign,
  duplicateCampaign,
  findWritten,
  scheduleCampaign,
  updateCampaign,
} from "@outreach/domain/campaigns/Campaigns"
import { checkCampaign } from "@outreach/domain/campaigns/Preflights"
import { draftSteps } from "@outreach/domain/campaigns/preflight"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { describe, expect } from "vitest"

const { test } = testsOnDatabase()

const seed = Effect.map(seedCampaign({ recipients: 2, opensIn: 3600 }), ({ campaign }) => campaign)

const window = { windowStart: fromUnixMillis(4e12), windowEnd: fromUnixMillis(4e12 + 3_600_000) }

/** Edits of every field that only a draft can change. */
const EDITS = {
  ...{ name: "Autumn", subject: "Dear {{ first_name }}", preheader: "An invitation", layout: "plain" },
  ...{ html: "<p>{{ short_link }}</p>", text: "{{ short_link }}", shortLink: "https://go.test/{token}" },
  ...{ fields: ["first_name"], ...window },
} satisfies CampaignEdits

describe("a draft", () => {
  test("is edited in all fields, with the rules of a new campaign", function* () {
    const { id, programId, updatedAt } = yield* seed
    const edited = yield* updateCampaign(id, { ...EDITS, perMinute: 7 })
    const created = yield* createCampaign({ programId, kind: "traffic", perMinute: 7, ...EDITS })
    const { status, stoppedBy, testedAt, kind, organizationId, ...expected } = created
    expect(edited).toMatchObject({
      ...expected,
      id,
      createdAt: edited.createdAt,
      updatedAt: edited.updatedAt,
      editedAt: edited.editedAt,
    })
    expect(edited.updatedAt > updatedAt).toBe(true)
    const cases: ReadonlyArray<readonly [CampaignEdits, string]> = [
      [{ html: "{{ nobody }}" }, "The html is not a valid template: it names nobody"],
      [{ preheader: "{% if %}" }, "The preheader is not a valid template"],
      [{ fields: [] }, "The subject is not a valid template: it names first_name"],
      [{ shortLink: null }, "The html is not a valid template: it names short_link"],
      [{ layout: "none" }, "The html does not show the sender name"],
      [{ windowEnd: window.windowStart }, "must end after it starts"],
      [{ windowStart: fromUnixMillis(0), windowEnd: fromUnixMillis(1000) }, "choose a later one"],
    ]
    for (const [edits, message] of cases) {
      expect((yield* Effect.flip(updateCampaign(id, edits))).message).toContain(message)
    }
    expect(yield* (yield* CampaignRepository).find(id)).toEqual(edited)
  })

  test("keeps its layout when only the HTML or the text is edited", function* () {
    const { id } = yield* seed
    yield* updateCampaign(id, EDITS)
    const html = "<style>p { color: red }</style>\n<p>{{ token }}</p>"
    expect((yield* updateCampaign(id, { html })).html).toContain("plain-footer")
    expect(yield* findWritten(id)).toMatchObject({ layout: "plain", html, text: EDITS.text })
    expect((yield* updateCampaign(id, { text: null })).text).toBeNull()
    yield* updateCampaign(id, {
      layout: "none",
      html: `${html}{{ sender_name }}, {{ postal_address }}, {{ unsubscribe_url }}`,
    })
    expect(yield* findWritten(id)).toMatchObject({ layout: "none", text: null })
  })

  test("is saved once by two operators at once, and not over a later version", function* () {
    const { id, editedAt } = yield* seed
    const save = (name: string) => Effect.flip(Effect.flip(updateCampaign(id, { name }, editedAt))).pipe(Effect.exit)
    const exits = yield* Effect.all([save("A"), save("B")], { concurrency: 2 })
    expect(exits.map(({ _tag }) => _tag).sort()).toEqual(["Failure", "Success"])
    const late = yield* Effect.flip(updateCampaign(id, { name: "C" }, editedAt))
    expect(late).toMatchObject({ _tag: "ChangedMeanwhile" })
    expect(late.message).toContain("Your change wasn't saved.")
  })

  test("is not scheduled in another version than the checked one, and not edited after it was scheduled", function* () {
    const { id, editedAt } = yield* seed
    const { editedAt: version } = yield* updateCampaign(id, { subject: "News" })
    expect(yield* Effect.flip(scheduleCampaign(id, { version: editedAt }))).toMatchObject({ _tag: "ChangedMeanwhile" })
    const repository = yield* CampaignRepository
    const moved = repository.move(id, ["draft"], "scheduled", { editedAt })
    expect(yield* Effect.flip(moved)).toMatchObject({ _tag: "ChangedMeanwhile" })
    yield* scheduleCampaign(id, { version })
    for (const [name, value] of Object.entries(EDITS)) {
      const refused = yield* Effect.flip(updateCampaign(id, { [name]: value }))
      expect(refused).toMatchObject({ _tag: "FixedAfterScheduling", status: "scheduled" })
    }
    const late = repository.update({ id, editedAt: version }, ["draft"], { name: "Late" })
    expect(yield* Effect.flip(late)).toMatchObject({ _tag: "CampaignNotInStatus", status: "scheduled" })
    expect(yield* updateCampaign(id, { perMinute: 5 }, version)).toMatchObject({ subject: "News", perMinute: 5 })
  })

  test("must be tested again after a change of its content, and not after one of its rate or window", function* () {
    const { id, editedAt } = yield* seed
    const repository = yield* CampaignRepository
    const isTested = Effect.map(repository.find(id), ({ testedAt }) => testedAt !== null)
    const edited = yield* updateCampaign(id, { subject: "News" })
    // The message with the earlier content was accepted only now.
    yield* repository.markTested({ id, editedAt })
    expect(yield* isTested).toBe(false)
    yield* repository.markTested(edited)
    yield* updateCampaign(id, { perMinute: 5, ...window })
    expect(yield* isTested).toBe(true)
    yield* updateCampaign(id, { preheader: "New" })
    expect(yield* isTested).toBe(false)
  })

  test("can't be scheduled with a new field that the imported recipients lack", function* () {
    const { id } = yield* seed
    yield* updateCampaign(id, { fields: ["first_name"], subject: "Dear {{ first_name }}" })
    expect(yield* Effect.flip(scheduleCampaign(id))).toMatchObject({ _tag: "CampaignNotReady", failed: ["fields"] })
    expect(draftSteps(id, yield* checkCampaign(id))[0]).toMatchObject({ step: "recipients", isNext: true })
    yield* updateCampaign(id, { subject: 'Dear {{ first_name | default: "colleague" }}' })
    expect(yield* scheduleCampaign(id)).toMatchObject({ status: "scheduled" })
  })

  test("has a next step until it is scheduled, also if its templates no longer render", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0, opensIn: 3600 })
    const { id } = campaign
    const next = Effect.map(checkCampaign(id), (checks) => draftSteps(id, checks).filter(({ isNext }) => isNext))
    expect(yield* next).toMatchObject([{ step: "recipients" }])
    yield* sql`update campaigns set html = '{{ nobody }}' where id = ${id}`
    expect(yield* checkCampaign(id)).toContainEqual(
      expect.objectContaining({ check: "template", status: "failed", found: expect.stringContaining("names nobody") }),
    )
    const ready = yield* seed
    const steps = Effect.map(checkCampaign(ready.id), (checks) => draftSteps(ready.id, checks))
    expect((yield* steps).find(({ isNext }) => isNext)?.step).toBe("test")
    yield* (yield* CampaignRepository).markTested(ready)
    expect((yield* steps).find(({ isNext }) => isNext)?.step).toBe("schedule")
  })
})

test("a campaign of any status is duplicated as an untested draft without recipients", function* () {
  const { id } = yield* seed
  yield* updateCampaign(id, { ...EDITS, name: "x".repeat(200) })
  const repository = yield* CampaignRepository
  yield* repository.markTested(yield* repository.find(id))
  yield* commandCampaign(id, "cancel", { stoppedBy: "Dana" })
  const { name, html, text, subject, preheader, fields, windowStart } = yield* repository.find(id)
  const copy = yield* duplicateCampaign(id)
  expect(copy).toMatchObject({
    html,
    text,
    subject,
    preheader,
    fields,
    windowStart,
    status: "draft",
    stoppedBy: null,
    testedAt: null,
  })
  expect(copy.name).toBe(`Copy of ${name}`.slice(0, 200))
  expect((yield* repository.progress(copy.id)).recipients).toBe(0)
  expect((yield* duplicateCampaign(id, "Winter")).name).toBe("Winter")
})
