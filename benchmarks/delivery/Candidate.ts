import type postgres from "postgres"

/** An event for one endpoint, before its delivery. */
export interface Publication {
  readonly eventId: string
  readonly deliveryId: string
  /** The index of the endpoint. */
  readonly endpoint: number
  readonly body: string
}

/** Publishes one event at a time, each in its own transaction, until it is closed. */
export interface Publisher {
  readonly publish: () => Promise<unknown>
  readonly close: () => Promise<void>
}

/** A measured delivery system: how to publish to it, and its process. */
export interface Candidate {
  readonly name: string
  /** The main module of its process. */
  readonly main: string
  readonly env?: Readonly<Record<string, string>>
  /** Prepares an empty database for deliveries to endpoints at these addresses. */
  readonly setUp: (sql: postgres.Sql, databaseUrl: string, urls: readonly string[]) => Promise<void>
  /** Publishes many events in one transaction, as its users would. */
  readonly publish: (sql: postgres.Sql, publications: readonly Publication[]) => Promise<void>
  /** Prepares the publication of one event by the code of the service, if `publish` only imitates it. */
  readonly openPublisher?: (databaseUrl: string) => Promise<Publisher>
  /** Reports whether all deliveries are finished. */
  readonly isDone: (sql: postgres.Sql) => Promise<boolean>
  readonly close?: () => Promise<void>
}

/** The maximum number of calls in flight, for all candidates. */
export const MAX_IN_FLIGHT = 128

/** The signing secret of all candidates. */
export const SECRET = "whsec_benchmarkbenchmarkbenchmarkbenchmarkbench"
