import { describe, expect } from "@effect/vitest"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { DatabaseMonitor, databaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { makeDatabaseFault } from "@outreach/postgres/databaseFault"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { asRole } from "@outreach/testing/testRoles"
import { Context, Effect, Layer } from "effect"

const url = migratedDatabase()
const { test } = testsOnDatabase({ url })

/** Returns the fault code after changes to the database, which are rolled back. */
const codeAfter = Effect.fnUntraced(function* (...statements: ReadonlyArray<string>) {
  const check = yield* makeDatabaseFault("1 minute")
  const found = yield* Effect.gen(function* () {
    for (const statement of statements) yield* sql.unsafe(statement)
    const fault = yield* check()
    return yield* Effect.fail({ code: fault?.code })
  }).pipe(inTransaction, Effect.flip)
  return (found as { readonly code: string | undefined }).code
})

describe("the check of the database", () => {
  test("accepts a schema of this release or of a later one", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    yield* rotateSecret(organization.id, 0)
    expect(yield* codeAfter()).toBeUndefined()
    const later = "insert into migrations (file, checksum) values ('migrations/9999_later.sql', 'of a later release')"
    expect(yield* codeAfter(later)).toBeUndefined()
  })

  test("finds a missing or older schema and a read-only database", function* () {
    expect(yield* codeAfter("alter table migrations rename to migrations_away")).toBe("42P01")
    const older = "delete from migrations where file = 'functions/make_id.sql'"
    expect(yield* codeAfter(older)).toBe("OLD_SCHEMA")
    expect(yield* codeAfter("set transaction read only")).toBe("25006")
    expect(yield* codeAfter(older, "set transaction read only")).toBe("OLD_SCHEMA")
  })

  test("returns the rights that a process's role lacks", function* () {
    const worker = adaptersFor(asRole(url(), "worker"))
    const check = Effect.flatMap(makeDatabaseFault("1 minute", { kind: "worker" }), (check) => check()).pipe(
      Effect.provide(worker, { local: true }),
    )
    expect(yield* check).toBeUndefined()
    const cases = [
      ["update on messages", "outreach_test_worker", "MISSING_RIGHTS"],
      ["update (removed_at) on webhook_endpoints", "outreach_test_worker", "MISSING_RIGHTS"],
      ["execute on function take_due", "public", "MISSING_RIGHTS"],
      ["execute on function disable_endpoint", "outreach_test_worker", "MISSING_RIGHTS"],
      ["select on migrations", "outreach_test_worker", "42501"],
    ] as const
    for (const [right, role, code] of cases) {
      yield* sql.unsafe(`revoke ${right} from ${role}`)
      expect(yield* check).toEqual({ code, advice: expect.stringContaining(`lacks rights: ${right};`) })
      yield* sql.unsafe(`grant ${right} to ${role}`)
    }
    expect(yield* check).toBeUndefined()
  })

  test("finds a missing right as soon as a statement failed for lack of it", function* () {
    const layer = databaseMonitor("worker").pipe(Layer.provideMerge(adaptersFor(asRole(url(), "worker"))))
    const worker = yield* Layer.build(Layer.fresh(layer))
    const { covers, fault } = Context.get(worker, DatabaseMonitor)
    expect(yield* fault).toBeUndefined()
    yield* sql.unsafe("revoke delete on messages from outreach_test_worker")
    const cause = yield* sql`delete from messages`.pipe(Effect.provideContext(worker), Effect.sandbox, Effect.flip)
    expect(yield* covers(cause)).toBe(true)
    expect(yield* fault).toMatchObject({ code: "MISSING_RIGHTS" })
    yield* sql.unsafe("grant delete on messages to outreach_test_worker")
  })

  test("distinguishes a search_path without the schema from a missing schema", function* () {
    const hidden = new URL(url())
    hidden.searchParams.set("options", "-c search_path=elsewhere")
    const check = Effect.flatMap(makeDatabaseFault("1 minute"), (check) => check())
    const fault = yield* Effect.provide(check, adaptersFor(hidden.href), { local: true })
    expect(fault).toMatchObject({ code: "SEARCH_PATH" })
  })
})
