import { SCOPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { fromUnixMillis, Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Redacted } from "effect"
import { expect } from "vitest"
import { ask } from "../ask.ts"
import { LISTS, type Version, versionOf } from "./PolledList.ts"

/** A partner's program that polls one list with one strategy, and the rows it has seen. */
export interface Poller {
  readonly list: keyof typeof LISTS
  readonly habit: keyof typeof HABITS
  readonly limit: number
  readonly seen: Set<Version>
  pages: number
  walks: number
}

/** Start of a page: after a version, by a time or by a cursor. */
interface Place {
  readonly since: Timestamp
  readonly cursor?: string
  readonly after: string
}

// A stamp and a space sort before every version with that stamp.
const from = (since: Timestamp): Place => ({ since, after: `${since} ` })
const stampOf = (version: string): Timestamp => version.slice(0, version.indexOf(" ")) as Timestamp
const BEGINNING = Timestamp.make("2000-01-01T00:00:00.000000Z")
const OVERLAP_MILLIS = 500

interface Progress {
  readonly page: Place
  readonly last: string
  /** `Date` header of the pass's first page. */
  readonly date: Timestamp
  readonly walks: number
}

/** Where the next pass starts. */
const HABITS = {
  // The end of a list has no cursor: the last page is requested again.
  "last cursor": ({ page }: Progress) => page,
  "last stamp": ({ last }: Progress) => from(stampOf(last)),
  "checkpoint and overlap": ({ last }: Progress) => from(fromUnixMillis(toUnixMillis(stampOf(last)) - OVERLAP_MILLIS)),
  "starting afresh": ({ last, walks }: Progress) => from(walks % 5 === 0 ? BEGINNING : stampOf(last)),
  "date of the poll": ({ date }: Progress) => from(date),
}

/** Creates pollers of every list, strategy and limit. */
export const makePollers = (): ReadonlyArray<Poller> =>
  (Object.keys(LISTS) as Array<Poller["list"]>).flatMap((list) =>
    (
      [
        ["last cursor", 1],
        ["last cursor", 100],
        ["last stamp", 2],
        ["last stamp", 500],
        ["checkpoint and overlap", 7],
        ["checkpoint and overlap", 100],
        ["starting afresh", 7],
        ["starting afresh", 500],
        ["date of the poll", 100],
        ["date of the poll", 500],
      ] as const
    ).map(([habit, limit]) => ({ list, habit, limit, seen: new Set<Version>(), pages: 0, walks: 0 })),
  )

/** Polls until a pass that started after the last commit is complete. */
export const poll = Effect.fnUntraced(function* (
  poller: Poller,
  options: {
    readonly organizationId: OrganizationId
    readonly urls: ReadonlyArray<string>
    /** Whether the last writer has committed. */
    readonly written: () => boolean
  },
) {
  const { organizationId, urls, written } = options
  let key = ""
  const pageAt = Effect.fnUntraced(function* ({ since, cursor }: Place) {
    // A key allows a hundred requests a minute, so every hundred requests use a new key.
    if (poller.pages % 100 === 0) {
      const issued = yield* issueKey({ organizationId, name: "poller", scopes: SCOPES, expiresAt: null })
      key = Redacted.value(issued.text)
    }
    const url = urls[poller.pages++ % urls.length]!
    const query = new URLSearchParams({ since, limit: String(poller.limit), ...(cursor && { cursor }) })
    const answer = yield* Effect.promise(() => ask({ url }, `${LISTS[poller.list].path}?${query}`, { key }))
    expect(answer.status).toBe(200)
    const { data, next_cursor } = answer.body as {
      data: ReadonlyArray<Record<string, string>>
      next_cursor: string | null
    }
    return { data, next_cursor, date: fromUnixMillis(Date.parse(answer.headers.get("date")!)) }
  })

  const { stampField, idField } = LISTS[poller.list]
  const walk = Effect.fnUntraced(function* (start: Place) {
    let page = start
    let last = start.after
    let began: Timestamp | undefined
    for (;;) {
      const { data, next_cursor, date } = yield* pageAt(page)
      began ??= date
      for (const record of data) {
        const version = versionOf(record[stampField] as Timestamp, record[idField]!)
        expect(version > last, `${version} comes after ${last}`).toBe(true)
        poller.seen.add(version)
        last = version
      }
      const next = HABITS[poller.habit]({ page, last, date: began, walks: poller.walks })
      if (next_cursor === null) return next
      page = { since: page.since, cursor: next_cursor, after: last }
    }
  })

  let place = from(BEGINNING)
  for (;;) {
    const final = written()
    const seen = poller.seen.size
    poller.walks++
    place = yield* walk(place)
    if (final) return
    // A poller that has caught up leaves the CPU to the others.
    if (poller.seen.size === seen) yield* Effect.sleep("100 millis")
  }
})
