import { describe, expect } from "@effect/vitest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { effectTest } from "@outreach/testing/runWith"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase())

const instants = [
  ...["2026-11-21T02:45:29.123456Z", "2026-11-21T02:45:29.000001Z", "2026-11-21T02:45:29.999999Z"],
  ...["2000-01-01T00:00:00.000000Z", "1999-12-31T23:59:59.999999Z", "1999-12-31T23:59:59.000001Z"],
  ...["1970-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z", "1583-01-01T00:00:00.000001Z"],
  "9999-12-31T23:59:59.999999Z",
]

describe("timestampCodec", () => {
  test("gives back every microsecond that was stored, before 2000 and before 1970 too", function* () {
    const sql = yield* SqlClient.SqlClient
    for (const instant of instants) {
      // The server's own rendering shows that not only the text, but also the instant is correct.
      const rows = yield* sql`
        select ${instant}::timestamptz as at,
          to_char(${instant}::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text`
      expect(rows).toEqual([{ at: instant, text: instant }])
    }
  })

  test("agrees with the server on any instant, near and far", function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ at: string; text: string }>`
      select at, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text
      from generate_series(0, 4999) as n, lateral (values
        (timestamptz '0001-01-01Z' + n * interval '2 years' + n * 1.000003 * interval '1 hour'),
        (timestamptz '2026-11-21 23:59:59.999Z' + n * interval '1 microsecond'),
        (timestamptz '2000-01-01Z' - n * interval '23.000007 hours')
      ) as instant (at)
      where at < '10000-01-01Z'`
    expect(rows.length).toBeGreaterThan(14_000)
    expect(rows.filter(({ at, text }) => at !== text)).toEqual([])
  })

  test("reads offsets as UTC, arrays, and null", function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`
      select timestamptz '2026-11-21 02:45:29.5+02' as at, null::timestamptz as never,
        array[timestamptz '2026-11-21 02:45:29.000007Z', null] as several`
    expect(rows).toEqual([
      { at: "2026-11-21T00:45:29.500000Z", never: null, several: ["2026-11-21T02:45:29.000007Z", null] },
    ])
  })
})
