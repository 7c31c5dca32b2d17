import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { HintsPg } from "@outreach/postgres/events/HintsPg"
import { migrate } from "@outreach/postgres/migrate"
import { OrganizationRepositoryPg } from "@outreach/postgres/organizations/OrganizationRepositoryPg"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"

// What does the fence of the clock add to a stamp? Compares the statement with the one of the first release, on a table without its columns.

const { values } = parseArgs({ options: { rounds: { type: "string", default: "150" } } })
const ROUNDS = Number(values.rounds)
const STAMPS = 200
const ORGANIZATIONS = 1000
/** The stamps that share a transaction: one, as in the service, and many, so that little but the statement is measured. */
const PER_TRANSACTION = [1, 50]
/** The maximum ratio of the medians. */
const MAX_RATIO = 1.03

const server = await startPostgres()
const layer = OrganizationRepositoryPg.pipe(
  Layer.provide(HintsPg),
  Layer.provideMerge(
    databaseLayer({ database: databaseAt(server.url), applicationName: "benchmark", maxConnections: 1 }),
  ),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
)

const program = Effect.gen(function* () {
  yield* migrate
  const sql = yield* SqlClient.SqlClient
  const { create } = yield* OrganizationRepository
  const organizations = yield* Effect.forEach(Array.from({ length: ORGANIZATIONS }), () =>
    Effect.flatMap(createIdentifier("organization"), (id) => create(id, "Acme")),
  )
  // As 0001 creates it: a foreign key costs each update, too.
  yield* sql`
    create table plain_clock (
      organization_id text collate "C" primary key references organizations,
      last timestamptz not null
    ) with (fillfactor = 50)`
  yield* sql`insert into plain_clock select organization_id, last from organization_clock`
  // Unanalysed, small tables are read as a whole, in plans that differ.
  for (const table of ["plain_clock", "organization_clock"]) yield* sql`vacuum analyze ${sql(table)}`
  const [backend] = yield* sql<{ pid: number }>`select pg_backend_pid() as pid`

  const candidates = {
    plain: plainTimestamp,
    fenced: commitTimestamp,
  }
  type Name = keyof typeof candidates
  /** Returns the CPU microseconds of the server for each stamp. */
  const measure = Effect.fnUntraced(function* (name: Name, perTransaction: number) {
    const before = cpuMicros(backend!.pid)
    for (let first = 0; first < STAMPS; first += perTransaction) {
      const stamps = Array.from({ length: perTransaction }, (_, n) => organizations[(first + n) % ORGANIZATIONS]!.id)
      yield* sql.withTransaction(Effect.forEach(stamps, candidates[name], { discard: true }))
    }
    return (cpuMicros(backend!.pid) - before) / STAMPS
  })

  for (const perTransaction of PER_TRANSACTION) {
    const took = { plain: [] as number[], fenced: [] as number[] }
    for (let round = -10; round < ROUNDS; round++) {
      const order: ReadonlyArray<Name> = round % 2 === 0 ? ["plain", "fenced"] : ["fenced", "plain"]
      for (const name of order) {
        const micros = yield* measure(name, perTransaction)
        // The first rounds compile, connect and plan.
        if (round >= 0) took[name].push(micros)
      }
    }
    report(perTransaction, took)
  }
})

/** Advances a clock without the fence. */
const plainTimestamp = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  if (Option.isNone(yield* Effect.serviceOption(sql.transactionService))) {
    return yield* Effect.die(new Error("commitTimestamp was called outside a transaction"))
  }
  const rows = yield* sql<{ last: CommitTimestamp }>`
    update plain_clock
    set last = greatest(clock_timestamp(), last + interval '1 microsecond')
    where organization_id = ${organizationId}
    returning last`
  return rows[0]!.last
})

/** Returns the CPU time of a process in microseconds, to the nanosecond: the ticks of /proc/<pid>/stat are too coarse. */
const cpuMicros = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000

const quantile = (numbers: ReadonlyArray<number>, q: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.round((numbers.length - 1) * q)]!

const report = (perTransaction: number, { plain, fenced }: Record<"plain" | "fenced", ReadonlyArray<number>>): void => {
  console.log(
    `CPU of PostgreSQL for a stamp, ${perTransaction} in a transaction; ${ROUNDS} rounds of ${STAMPS} each, in turn`,
  )
  const print = (name: string, numbers: ReadonlyArray<number>, unit: string) => {
    const [low, median, high] = [0.25, 0.5, 0.75].map((q) => quantile(numbers, q).toFixed(3))
    console.log(`  ${name.padEnd(20)} median ${median}${unit}, quartiles ${low}–${high}`)
  }
  print("without the fence", plain, " µs")
  print("with the fence", fenced, " µs")
  print(
    "ratio of a round",
    fenced.map((micros, round) => micros / plain[round]!),
    "",
  )
  const ratio = quantile(fenced, 0.5) / quantile(plain, 0.5)
  console.log(`  ratio of the medians ${ratio.toFixed(3)}, at most ${MAX_RATIO}`)
  if (ratio > MAX_RATIO) process.exitCode = 1
}

await Effect.runPromise(Effect.provide(program, layer))
await server.stop()
