import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { type Standby, setSynchronousStandbys, startStandby } from "@outreach/embedded-postgres/startStandby"
import type { AtEnd } from "@outreach/testing/startProcess"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { Client } from "pg"

export interface ClusterOptions {
  /** Standbys by name. */
  readonly standbys: ReadonlyArray<{
    readonly name: string
    readonly settings?: Readonly<Record<string, string>>
    readonly environment?: Readonly<Record<string, string>>
  }>
  /** `synchronous_standby_names`; empty if commits don't wait for a standby. */
  readonly synchronous: string
}

/** The servers are temporary, but a killed process doesn't lose commits. */
const DURABLE = { synchronous_commit: "on" }

/** Starts a primary and its standbys, an address that points to the primary, and a link for each standby's replication. */
export const startCluster = async ({ standbys, synchronous }: ClusterOptions, atEnd: AtEnd) => {
  const primary = await startPostgres({ settings: DURABLE })
  atEnd(primary.stop)
  const address = await tcpProxy(primary.port, atEnd)
  const followers = new Map<string, { readonly standby: Standby; readonly link: typeof address }>()
  for (const { name, settings, environment = {} } of standbys) {
    const link = await tcpProxy(primary.port, atEnd)
    const standby = await startStandby(primary, {
      name,
      replicateFrom: link.address,
      settings: { ...DURABLE, ...settings },
      environment,
    })
    atEnd(standby.stop)
    followers.set(name, { standby, link })
  }
  await setSynchronousStandbys(primary.url, synchronous)

  return {
    primary,
    address,
    /** URL of the current primary. */
    url: address.through(primary.url),
    /** A standby, and its replication link. */
    follower: (name: string) => followers.get(name)!,
  }
}

/** Queries a server over a separate connection. Repeats a query canceled by a standby's replay. */
export const query = async <Row extends object>(
  url: string,
  text: string,
  values: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<Row>> => {
  const client = new Client({ connectionString: url, application_name: "proof" })
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text, [...values])).rows
  } catch (error) {
    if ((error as { code?: string }).code === "40001") return await query(url, text, values)
    throw error
  } finally {
    await client.end()
  }
}
