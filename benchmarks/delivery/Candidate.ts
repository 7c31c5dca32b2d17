import type postgres from "postgres"

/** An event on its way to one endpoint. */
export interface Publication {
  readonly eventId: string
  readonly deliveryId: string
  /** Which of the endpoints, from 0. */
  readonly endpoint: number
  readonly body: string
}

/** A delivery system that is measured: how to publish to it, and the process that delivers. */
export interface Candidate {
  readonly name: string
  /** The main module of its process. */
  readonly main: string
  readonly env?: Readonly<Record<string, string>>
  /** Prepares an empty database for deliveries to endpoints at these addresses. */
  readonly setUp: (sql: postgres.Sql, databaseUrl: string, urls: readonly string[]) => Promise<void>
  /** Publishes many events in one transaction, as its users would. */
  readonly publish: (sql: postgres.Sql, publications: readonly Publication[]) => Promise<void>
  /** Reports whether no delivery waits or is in flight. */
  readonly isDone: (sql: postgres.Sql) => Promise<boolean>
  readonly close?: () => Promise<void>
}

/** The maximum of calls in flight, for all candidates. */
export const MAX_IN_FLIGHT = 128

/** The signing secret of all candidates. */
export const SECRET = "whsec_benchmarkbenchmarkbenchmarkbenchmarkbench"
