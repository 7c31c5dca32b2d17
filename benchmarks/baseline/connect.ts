import postgres from "postgres"

// An option of postgres.js that its types lack. At its default of 100 a look-up costs 50 % more CPU time.
const PIPELINING: object = { max_pipeline: 8 }

/** The connection pool, which returns `timestamptz` as a text with six fraction digits. */
export type Sql = ReturnType<typeof connect>

/** Opens as many connections as the API's pool for reads. postgres.js pipelines statements over them. */
export const connect = (url: string) =>
  postgres(url, {
    max: 4,
    ...PIPELINING,
    onnotice: () => {},
    types: { instant: { to: 1184, from: [1184], serialize: (text: string) => text, parse: isoTimestamp } },
    connection: { application_name: "baseline", TimeZone: "UTC", statement_timeout: 30_000 },
  })

/** Converts PostgreSQL's UTC format, `2026-11-21 02:45:29.12+00`, to `2026-11-21T02:45:29.120000Z`. */
const isoTimestamp = (text: string): string => {
  const time = text.slice(11, -3)
  return `${text.slice(0, 10)}T${time.length === 8 ? `${time}.` : time}${"0".repeat(time.length === 8 ? 6 : 15 - time.length)}Z`
}
