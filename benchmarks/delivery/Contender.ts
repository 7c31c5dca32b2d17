import type postgres from "postgres"

/** An event on its way to one endpoint. */
export interface Publication {
  readonly eventId: string
  readonly deliveryId: string
  /** Which of the endpoints, from 0. */
  readonly endpoint: number
  readonly body: string
}

/** Something that delivers: how it is given work, and the process that does it. */
export interface Contender {
  readonly name: string
  /** The module that is run, or undefined when it needs no process of its own. */
  readonly main: string
  readonly env?: Readonly<Record<string, string>>
  /** Prepares an empty database for deliveries to endpoints at these addresses. */
  readonly setUp: (sql: postgres.Sql, databaseUrl: string, urls: readonly string[]) => Promise<void>
  /** Publishes as its users do, many in one transaction. */
  readonly publish: (sql: postgres.Sql, publications: readonly Publication[]) => Promise<void>
  /** Says whether nothing waits or is under way. */
  readonly isDone: (sql: postgres.Sql) => Promise<boolean>
  readonly close?: () => Promise<void>
}

/** Calls in flight, for everyone. */
export const IN_FLIGHT = 128

/** The secret that everyone signs with. */
export const SECRET = "whsec_benchmarkbenchmarkbenchmarkbenchmarkbench"
