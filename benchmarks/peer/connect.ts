import postgres from "postgres"

// An option that postgres.js reads and its types leave out. At its default of 100 a look-up costs the peer half as much CPU again.
const PIPELINING: object = { max_pipeline: 8 }

/** The connections, with `timestamptz` as a text of six fraction digits. */
export type Sql = ReturnType<typeof connect>

/** Opens as many connections as the API's pool for reads; postgres.js pipelines statements over them by itself. */
export const connect = (url: string) =>
  postgres(url, {
    max: 4,
    ...PIPELINING,
    onnotice: () => {},
    types: { instant: { to: 1184, from: [1184], serialize: (text: string) => text, parse: isoTimestamp } },
    connection: { application_name: "peer", TimeZone: "UTC", statement_timeout: 30_000 },
  })

/** Rewrites what PostgreSQL says in UTC, `2026-11-21 02:45:29.12+00`, as `2026-11-21T02:45:29.120000Z`. */
const isoTimestamp = (text: string): string => {
  const time = text.slice(11, -3)
  return `${text.slice(0, 10)}T${time.length === 8 ? `${time}.` : time}${"0".repeat(time.length === 8 ? 6 : 15 - time.length)}Z`
}
